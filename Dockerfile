# syntax=docker/dockerfile:1
# Two images of one build: the default one is from scratch and has the server, its libraries and the authorities that
# certificates are checked against; `--target debian` has a shell beside them. The commands here are those of the
# Makefile, and the libraries those that ldd lists for the binary: `make image-check` compares them, builds both and asks
# them. What of the repository is copied, .dockerignore says.

FROM swift:6.3-bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates libnghttp2-dev libsqlite3-dev libssl-dev zlib1g-dev
# What other traits need, as compose.postgres.yaml has them.
ARG LIBRARIES=
RUN test -z "$LIBRARIES" || apt-get install --no-install-recommends --yes $LIBRARIES
WORKDIR /source
COPY . .
# There is no repository here to ask: docker build --build-arg LENTICULAR_COMMIT="$(git rev-parse --short=12 HEAD)"
ARG LENTICULAR_COMMIT=
RUN .ci/console-libraries
ARG TRAITS=ApplePush
RUN swift build -c release --product lenticular --traits "$TRAITS" --static-swift-stdlib -Xlinker -s
RUN mkdir -p /image/etc/ssl/certs /image/usr/bin /image/usr/lib/ssl \
    && install --directory --mode=0700 /data/lenticular /data/lenticular-backups \
    && cp .build/release/lenticular /image/usr/bin/ \
    && ldd .build/release/lenticular | grep --only-matching '/[^ ]*' | xargs cp --parents --dereference --target-directory=/image \
    && cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/ \
    && ln --symbolic /etc/ssl/certs/ca-certificates.crt /image/usr/lib/ssl/cert.pem \
    && echo 'hosts: files dns' >/image/etc/nsswitch.conf \
    && echo 'lenticular:x:10001:10001::/var/lib/lenticular:/nologin' >/image/etc/passwd \
    && echo 'lenticular:x:10001:' >/image/etc/group

FROM debian:bookworm-slim AS debian
LABEL org.opencontainers.image.title="lenticular" \
    org.opencontainers.image.description="A self-hosted sync server that speaks CloudKit Web Services" \
    org.opencontainers.image.licenses="Apache-2.0"
RUN apt-get update && apt-get install --yes --no-install-recommends ca-certificates libgcc-s1 libnghttp2-14 libsqlite3-0 libssl3 libstdc++6 zlib1g && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin
ARG TRAITS=ApplePush
RUN case ",$TRAITS," in *,PostgreSQL,*) apt-get update && apt-get install --no-install-recommends --yes libpq5 && rm -rf /var/lib/apt/lists/* /var/cache/apt/*.bin ;; esac
COPY --from=build /source/.build/release/lenticular /usr/bin/lenticular
COPY --from=build --chown=10001:10001 /data /var/lib/
ENV LENTICULAR_CONTAINER=1 LENTICULAR_DATA=/var/lib/lenticular LENTICULAR_LISTEN=0.0.0.0:8080
USER 10001:10001
WORKDIR /var/lib/lenticular
VOLUME /var/lib/lenticular
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["lenticular", "healthcheck"]
ENTRYPOINT ["lenticular"]
CMD ["serve"]

FROM scratch
LABEL org.opencontainers.image.title="lenticular" \
    org.opencontainers.image.description="A self-hosted sync server that speaks CloudKit Web Services" \
    org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /image /
COPY --from=build --chown=10001:10001 /data /var/lib/
ENV PATH=/usr/bin LENTICULAR_CONTAINER=1 LENTICULAR_DATA=/var/lib/lenticular LENTICULAR_LISTEN=0.0.0.0:8080
USER 10001:10001
WORKDIR /var/lib/lenticular
VOLUME /var/lib/lenticular
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=10s --retries=3 CMD ["lenticular", "healthcheck"]
ENTRYPOINT ["lenticular"]
CMD ["serve"]
