import { setTimeout as pause } from 'node:timers/promises';
import type { Sql } from '../../src/platform/db/connect.ts';

/** Autovacuum of the server, which looks at pages beside the service when it pleases. */
export interface Autovacuum {
  /**
   * Ends what it does and lets nothing new begin. A setting of the server, not of the tables: those would have every
   * connection plan its statements again, with what Postgres knows of the tables by then.
   */
  stop(): Promise<void>;
  start(): Promise<void>;
}

const LOOK_EVERY_MS = 20;

/** @param superuser of a server of our own; undefined: that of somebody else, whose settings are left alone */
export function openAutovacuum(superuser: Sql | undefined): Autovacuum {
  return {
    async stop() {
      if (superuser === undefined) return;
      await superuser`alter system set autovacuum = off`;
      await superuser`select pg_reload_conf()`;
      while ((await endWorkers(superuser)) > 0) await pause(LOOK_EVERY_MS);
    },
    async start() {
      if (superuser === undefined) return;
      await superuser`alter system reset autovacuum`;
      await superuser`select pg_reload_conf()`;
    },
  };
}

/** @returns how many there were */
async function endWorkers(superuser: Sql): Promise<number> {
  const workers = await superuser`
    select pg_terminate_backend(pid) from pg_stat_activity
    where backend_type in ('autovacuum launcher', 'autovacuum worker')`;
  return workers.length;
}
