# syntax=docker/dockerfile:1
# The commands here are those of the Makefile, and the libraries those that ldd lists for the binary,
# beside the authorities that an S3 store's certificate is checked against: `make image-check` compares them,
# and builds the image. What of the repository is copied, .dockerignore says.

FROM swift:6.3-bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends libsqlite3-dev libssl-dev zlib1g-dev
WORKDIR /source
COPY . .
RUN swift build -c release --product lenticular --static-swift-stdlib

FROM debian:bookworm-slim
LABEL org.opencontainers.image.title="lenticular" \
    org.opencontainers.image.description="A self-hosted sync server that speaks CloudKit Web Services" \
    org.opencontainers.image.licenses="Apache-2.0"
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates libgcc-s1 libsqlite3-0 libssl3 libstdc++6 zlib1g && rm -rf /var/lib/apt/lists/*
RUN install --directory --owner=10001 --group=10001 --mode=0700 /var/lib/lenticular
COPY --from=build /source/.build/release/lenticular /usr/local/bin/lenticular
ENV LENTICULAR_CONTAINER=1 LENTICULAR_DATA=/var/lib/lenticular LENTICULAR_LISTEN=0.0.0.0:8080
USER 10001:10001
WORKDIR /var/lib/lenticular
VOLUME /var/lib/lenticular
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["lenticular", "healthcheck"]
ENTRYPOINT ["lenticular"]
CMD ["serve"]
