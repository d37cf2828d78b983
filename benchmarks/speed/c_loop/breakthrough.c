/* MO-Breakthrough in plain C, for the comparison in benchmarks/speed: the algorithm of momagames' rules (sets of cells as
 * words of 64 bits, run-time sizes), the same work a step: observation planes, action mask, rewards, sums of rewards,
 * flags, next-step auto-reset. With -DWIDE the bytes are written by AVX-512 and PDEP: the limit, as far as we know it. */
#include <stdint.h>
#include <string.h>
#ifdef WIDE
#include <immintrin.h>
#endif

#define WORDS 9 /* 400 cells, and an empty word before and after */
typedef uint64_t u64;

typedef struct {
    u64 pieces[2][WORDS];
    int32_t width, height, count[2], ply, mover;
    uint8_t over;
} State;

static void deal(State *s) {
    int h = s->height;
    memset(s->pieces, 0, sizeof s->pieces);
    for (int x = 0; x < s->width; x++)
        for (int y = 0; y < 2; y++) {
            int low = x * h + y, high = x * h + h - 1 - y;
            s->pieces[0][1 + (low >> 6)] |= 1ull << (low & 63);
            s->pieces[1][1 + (high >> 6)] |= 1ull << (high & 63);
        }
    s->count[0] = s->count[1] = 2 * s->width;
    s->ply = s->mover = s->over = 0;
}

static void step(State *s, int64_t action, float *reward) {
    int me = s->mover, other = 1 - me;
    int start = (int)action / 3, way = (int)action % 3;
    int target = start + (way - 1) * s->height + 1 - 2 * me;
    u64 bit = 1ull << (target & 63);
    int capture = (s->pieces[other][1 + (target >> 6)] & bit) != 0;
    s->pieces[me][1 + (start >> 6)] &= ~(1ull << (start & 63));
    s->pieces[me][1 + (target >> 6)] |= bit;
    s->pieces[other][1 + (target >> 6)] &= ~bit;
    s->count[other] -= capture;
    s->ply++;
    int won = target % s->height == (me ? 0 : s->height - 1) || s->count[other] == 0;
    s->over = won;
    memset(reward, 0, 8 * sizeof *reward);
    if (won) {
        double speed = 1.0 - (double)s->ply / (4 * s->width * (s->height - 3) + 1);
        reward[4 * me] = 1;
        reward[4 * other] = -1;
        reward[4 * me + 1] = (float)speed;
        reward[4 * other + 1] = (float)-speed;
    }
    double share = (double)capture / (2 * s->width);
    reward[4 * me + 2] = (float)share;
    reward[4 * other + 3] = (float)(0.0 - share);
    s->mover = other;
}

static u64 come_from(u64 below, u64 here, u64 above, int way) {
    int rest = way & 63;
    u64 low = way > 0 ? here : below, high = way > 0 ? above : here;
    return (low >> rest) | (high << (64 - rest));
}

static u64 board_word(int cells, int w) {
    int left = cells - 64 * (w - 1);
    return w < 1 || left <= 0 ? 0 : left >= 64 ? ~0ull : (1ull << left) - 1;
}

static void write_moves(u64 left, u64 straight, u64 right, int8_t *out, int count) {
#ifdef WIDE
    if (count == 64) {
        const u64 third = 0x9249249249249249ull; /* every third bit, from bit 0, 1 or 2 on */
        const u64 from[3] = {third, third << 1 , third << 2};
        const int taken[3] = {22, 21, 21};
        u64 rest[3] = {left, straight, right};
        for (int k = 0; k < 3; k++) {
            u64 word = 0;
            for (int d = 0; d < 3; d++) {
                int first = (d + 2 * k) % 3; /* where direction d stands first in word k: 64 k leaves k mod 3 */
                word |= _pdep_u64(rest[d], from[first]);
                rest[d] >>= taken[first];
            }
            _mm512_storeu_si512(out + 64 * k, _mm512_maskz_set1_epi8(word, 1));
        }
        return;
    }
#endif
    for (int i = 0; i < count; i++) {
        out[3 * i] = (left >> i) & 1;
        out[3 * i + 1] = (straight >> i) & 1;
        out[3 * i + 2] = (right >> i) & 1;
    }
}

static void legal(const State *s, int8_t *mask) {
    int cells = s->width * s->height, me = s->mover, h = s->height, ahead = 1 - 2 * me;
    if (s->over) {
        memset(mask, 0, 3 * cells);
        return;
    }
    const u64 *own = s->pieces[me], *other = s->pieces[1 - me];
    u64 slant[3] = {0, board_word(cells, 1) & ~own[1], 0}, empty[3] = {0, slant[1] & ~other[1], 0};
    for (int w = 1; 64 * (w - 1) < cells; w++) {
        slant[2] = board_word(cells, w + 1) & ~own[w + 1];
        empty[2] = slant[2] & ~other[w + 1];
        int count = cells - 64 * (w - 1) < 64 ? cells - 64 * (w - 1) : 64;
        write_moves(own[w] & come_from(slant[0], slant[1], slant[2], ahead - h),
                    own[w] & come_from(empty[0], empty[1], empty[2], ahead),
                    own[w] & come_from(slant[0], slant[1], slant[2], ahead + h), mask + 192 * (w - 1), count);
        slant[0] = slant[1], slant[1] = slant[2];
        empty[0] = empty[1], empty[1] = empty[2];
    }
}

static void observe(const State *s, uint8_t *out) {
    int cells = s->width * s->height;
    for (int plane = 0; plane < 2; plane++)
        for (int w = 1; 64 * (w - 1) < cells; w++) {
            u64 word = s->pieces[s->mover ^ plane][w];
            int start = 64 * (w - 1), count = cells - start < 64 ? cells - start : 64;
            uint8_t *row = out + plane * cells + start;
#ifdef WIDE
            if (count == 64) {
                _mm512_storeu_si512(row, _mm512_maskz_set1_epi8(word, 1));
                continue;
            }
#endif
            for (int i = 0; i < count; i++) row[i] = (word >> i) & 1;
        }
}

int state_bytes(void) { return sizeof(State); }

void start(State *states, int n, int width, int height, uint8_t *obs, int8_t *masks) {
    for (int i = 0; i < n; i++) {
        states[i].width = width;
        states[i].height = height;
        deal(&states[i]);
        observe(&states[i], obs + 2 * width * height * i);
        legal(&states[i], masks + 3 * width * height * i);
    }
}

void run(State *states, int n, const int64_t *actions, uint8_t *obs, int8_t *masks, float *rewards, uint8_t *terminated,
         uint8_t *truncated, int32_t *to_move, uint8_t *ended, double *sums, int32_t *lengths, double *returns,
         int32_t *final_lengths, uint8_t *finished) {
    for (int i = 0; i < n; i++) {
        State *s = &states[i];
        float *reward = rewards + 8 * i;
        double *sum = sums + 8 * i;
        int cells = s->width * s->height;
        finished[i] = 0;
        if (ended[i]) {
            memset(reward, 0, 8 * sizeof *reward);
            deal(s);
            ended[i] = 0;
        } else {
            step(s, actions[i], reward);
            lengths[i]++;
            for (int k = 0; k < 8; k++) sum[k] += reward[k];
        }
        for (int a = 0; a < 2; a++) {
            terminated[2 * i + a] = s->over;
            truncated[2 * i + a] = 0;
        }
        if (s->over) {
            finished[i] = ended[i] = 1;
            final_lengths[i] = lengths[i];
            lengths[i] = 0;
            memcpy(returns + 8 * i, sum, 8 * sizeof *sum);
            memset(sum, 0, 8 * sizeof *sum);
        }
        to_move[i] = s->mover;
        observe(s, obs + 2 * cells * i);
        legal(s, masks + 3 * cells * i);
    }
}
