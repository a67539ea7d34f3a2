// One pm2 process per row: the ingress as a cluster, each worker pool by itself. `npm run build` first; the settings come
// from the environment (docs/operations.md "Settings"), DATABASE_URL, REDIS_URL and SECRETS_KEYS at least.
// pm2 reload <name> replaces the copies one by one; a copy stops taking requests or jobs, finishes those it has and leaves
// well within kill_timeout. pm2 finds `apps` only as a named export here: with a default export it says "No script path".

/** Longer than the 14 s within which a process stops by itself. */
const KILL_AFTER_MS = 16_000;
/**
 * A reload keeps the old copy until the new one is ready; after this time pm2 ends the old one all the same, and a copy
 * that is not ready by then closes the port. Longer than any start: 130 s were seen on a machine with nothing to spare.
 */
const READY_WITHIN_MS = 600_000;

const shared = {
  exec_mode: 'cluster',
  wait_ready: true,
  listen_timeout: READY_WITHIN_MS,
  kill_timeout: KILL_AFTER_MS,
  node_args: '--enable-source-maps',
  env: {
    NODE_ENV: 'production',
    // With NODE_ENV=production nothing starts without it; named here, so that it comes from this shell at each start.
    SECRETS_KEYS: process.env.SECRETS_KEYS ?? '',
  },
  time: true,
};

const pool = (name, instances = 1) => ({ ...shared, name, script: `dist/workers/${name}.js`, instances });

export const apps = [
  { ...shared, name: 'ingress', script: 'dist/src/ingress/server.js', instances: 2 },
  pool('writes'),
  pool('asking'),
  pool('credit-notes'),
  pool('previews'),
  pool('budgets'),
  pool('events'),
  pool('aggregation'),
  // Only where streams are read.
  ...(process.env.CONNECTORS_FILE ? [pool('connectors')] : []),
  pool('billing'),
  pool('clocks'),
  pool('webhooks'),
  pool('payments'),
  pool('documents'),
  pool('analytics'),
  pool('scheduler'),
];
