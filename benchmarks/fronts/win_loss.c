/* Winner of a Breakthrough board by depth-first proof-number search, in plain C: the rules and the algorithm of
   momagames/games/breakthrough/solver/proof_number_kernels.py written again, for side-by-side times. Cell (x, y) is bit
   x * H + y as the agent to move sees it, which moves to greater y. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INFINITE ((1u << 30) - 1)
#define MAX_MOVES 72
#define PROBES 4

typedef uint64_t Cells;
typedef struct { Cells own, other; uint32_t phi, delta; } Position;

static int W, H;
static Cells row, column, board, slots;
static Position *table;
static uint64_t nodes;

static Cells row_at(int y) { return row << y; }
static Cells left(Cells cells) { return cells >> H << 1 & board; }
static Cells right(Cells cells) { return cells << H << 1 & board; }
static Cells attacked(Cells cells) { return cells >> 1 >> H | cells >> 1 << H; }

static Cells reverse_rows(Cells cells) {
    Cells out = 0;
    for (int y = 0; y < H; y++) out |= (cells >> y & row) << (H - 1 - y);
    return out;
}

static Cells mirror(Cells cells) {
    Cells out = 0;
    for (int x = 0; x < W; x++) out |= (cells >> x * H & column) << (W - 1 - x) * H;
    return out;
}

static Cells mix(Cells z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* 1: the agent to move wins in at most three plies; -1: the opponent wins in two; 0: unknown */
static int evaluate(Cells own, Cells other) {
    if (own & row_at(H - 2)) return 1;
    Cells captures = (left(own) | right(own)) & other, threats = other & row_at(1);
    if (captures && !(other & (other - 1))) return 1;
    if (threats) return threats & (threats - 1) || !(captures & threats) ? -1 : 0;
    Cells runners = own & row_at(H - 3);
    return ((runners << 1 & ~other) | left(runners) | right(runners)) & ~own & ~attacked(other) ? 1 : 0;
}

static Position *find_slot(Cells own, Cells other, int replaces) {
    Cells first = mix(own + mix(other));
    Position *chosen = &table[first & slots];
    int is_unsolved = 0;
    for (int i = 0; i < PROBES; i++) {
        Position *slot = &table[(first + i) & slots];
        if ((slot->own == own && slot->other == other) || (replaces && !slot->own && !slot->other)) return slot;
        if (!is_unsolved && slot->phi && slot->delta) chosen = slot, is_unsolved = 1;
    }
    return replaces ? chosen : NULL;
}

static int expand(const Position *node, Position *children) {
    int count = 0;
    Cells own = node->own, other = node->other, threats = other & row_at(1), allowed = threats ? threats : board & ~own;
    Cells targets[3] = {left(own) & allowed, own << 1 & allowed & ~other, right(own) & allowed};
    for (int y = H - 2; y > 0; y--)
        for (int direction = 0; direction < 3; direction++)
            for (Cells rest = targets[direction] & row_at(y); rest; rest &= rest - 1) {
                Cells target = rest & -rest, start = direction == 0 ? target >> 1 << H : direction == 1 ? target >> 1 : target >> 1 >> H;
                Position *child = &children[count++];
                child->own = reverse_rows(other & ~target);
                child->other = reverse_rows((own ^ start) | target);
                Cells own_mirrored = mirror(child->own), other_mirrored = mirror(child->other);
                if (own_mirrored < child->own || (own_mirrored == child->own && other_mirrored < child->other))
                    child->own = own_mirrored, child->other = other_mirrored;
                int value = evaluate(child->own, child->other);
                Position *known = value ? NULL : find_slot(child->own, child->other, 0);
                child->phi = value > 0 ? 0 : value < 0 ? INFINITE : known ? known->phi : 1;
                child->delta = value > 0 ? INFINITE : value < 0 ? 0 : known ? known->delta : 1;
                if (!child->delta) return count;
            }
    return count;
}

static void search(Position *node, uint32_t phi_limit, uint32_t delta_limit) {
    Position children[MAX_MOVES];
    int count = expand(node, children);
    nodes++;
    for (;;) {
        uint32_t second = INFINITE;
        uint64_t total = 0;
        Position *best = NULL;
        node->phi = INFINITE;
        for (int i = 0; i < count; i++) {
            if (children[i].delta < node->phi) second = node->phi, node->phi = children[i].delta, best = &children[i];
            else if (children[i].delta < second) second = children[i].delta;
            total += children[i].phi;
        }
        node->delta = total > INFINITE ? INFINITE : (uint32_t)total;
        if (!node->phi) node->delta = INFINITE;
        else if (!node->delta) node->phi = INFINITE;
        if (!node->phi || !node->delta || node->phi >= phi_limit || node->delta >= delta_limit) break;
        uint32_t next_phi = delta_limit - node->delta + best->phi, next_delta = second + 1 + (second >> 2);
        search(best, next_phi < INFINITE ? next_phi : INFINITE, next_delta < phi_limit ? next_delta : phi_limit);
    }
    *find_slot(node->own, node->other, 1) = *node;
}

/* Return the agent that wins from the start position, or -1 without memory; writes the number of nodes. */
int solve(int width, int height, int table_bits, uint64_t *expanded) {
    W = width, H = height, row = 0, nodes = 0;
    for (int x = 0; x < W; x++) row |= (Cells)1 << x * H;
    column = ((Cells)1 << H) - 1, board = row * column, slots = ((Cells)1 << table_bits) - 1;
    if (!(table = calloc(slots + 1, sizeof *table))) return -1;
    Position start = {row_at(0) | row_at(1), row_at(H - 1) | row_at(H - 2), 1, 1};
    search(&start, INFINITE, INFINITE);
    free(table);
    *expanded = nodes;
    return start.phi ? 1 : 0;
}
