# What the two commands of README run in: docs/container.md.
FROM debian:bookworm-slim
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates gcc git libc6-dev make python3 python3-dev python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /costtogo
COPY . .
RUN make environment
CMD ["make"]
