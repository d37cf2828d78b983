# momagames in a container, with the games compiled:
#
#   docker build -t momagames .
#   docker run --rm -v "$PWD/results:/data/results" momagames bench quick --out results
FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
COPY --from=build /wheels /wheels
RUN python -m pip install --no-cache-dir /wheels/*.whl \
    && useradd --create-home --uid 1000 player \
    && mkdir /data \
    && chown player /data
USER 1000
WORKDIR /data
ENV MOMAGAMES_CACHE_DIR=/home/player/compiled
RUN momagames warmup
ENTRYPOINT ["momagames"]
CMD ["--help"]
