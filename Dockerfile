# One image for every process of the service; the command says which.
#   docker build -t meterstone .
#   docker run --env-file .env meterstone                              the ingress
#   docker run --env-file .env meterstone dist/workers/events.js       a pool of workers
#   docker run --env-file .env meterstone bin/meterstone.mjs migrate   a command
ARG NODE=20

FROM node:${NODE}-bookworm-slim AS build
WORKDIR /service
COPY package.json package-lock.json ./
# Optional packages too: the compiler is one of them.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY bin bin
COPY src src
COPY workers workers
COPY console console
COPY docs docs
RUN npm run build && rm dist/.tsbuildinfo

FROM node:${NODE}-bookworm-slim AS dependencies
WORKDIR /service
COPY package.json package-lock.json ./
COPY bin/patch-driver.mjs bin/
# Without the Postgres of `npm start`, and with the two weights of each font that documents use: 100 MB less.
RUN npm ci --omit=dev --omit=optional --ignore-scripts \
  && node bin/patch-driver.mjs \
  && find node_modules/@embedpdf -name '*.otf' ! -name '*-Regular.otf' ! -name '*-Bold.otf' -delete

FROM node:${NODE}-bookworm-slim
LABEL org.opencontainers.image.title="Meterstone" \
  org.opencontainers.image.description="Usage-based billing: meters events, prices usage, issues invoices"
# As process 1 it passes signals on and takes in what ended.
RUN apt-get update && apt-get install -y --no-install-recommends tini && rm -rf /var/lib/apt/lists/*
WORKDIR /service
ENV NODE_ENV=production HOST=0.0.0.0 PORT=3000
COPY package.json ./
COPY bin bin
COPY migrations migrations
COPY data data
COPY --from=dependencies /service/node_modules node_modules
COPY --from=build /service/dist dist
USER node
EXPOSE 3000
# Of the ingress; a pool is well while its queues move: `dist/src/commands/health.js QUEUE…`, as in docker-compose.yml.
HEALTHCHECK --interval=15s --timeout=10s --start-period=30s --retries=3 CMD ["node", "dist/src/commands/health.js"]
ENTRYPOINT ["tini", "--", "node", "--enable-source-maps"]
CMD ["dist/src/ingress/server.js"]
