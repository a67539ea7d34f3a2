import type { Redis } from 'ioredis';
import { assert } from '../../engine/assert.ts';
import type { Config } from '../config.ts';
import type { Sql } from '../db/connect.ts';
import type { OrganizationId } from '../ids.ts';
import type { Log } from '../log/log.ts';
import { merged } from '../queue/merge-calls.ts';
import { positionKey } from '../redis/channels.ts';
import { type Position, positionText, readPosition, readSortable, sortableText } from './position.ts';

/** How long the position of an organization is kept after its last write; afterwards the primary is asked again. */
const KEPT_SECONDS = 3600;

// The greatest position stays: KEYS[1] holds it as a text that sorts like the position, ARGV: position, seconds.
const RAISE = `
local kept = redis.call('get', KEYS[1])
if kept and kept >= ARGV[1] then
  redis.call('expire', KEYS[1], ARGV[2])
  return kept
end
redis.call('set', KEYS[1], ARGV[1], 'EX', ARGV[2])
return ARGV[1]`;

interface PositionsRedis extends Redis {
  raisePosition(key: string, position: string, seconds: number): Promise<string>;
}

/**
 * Up to where a replica must have come before an organization reads from it: the position after its last write. Every
 * ingress finds it in Redis, one key an organization. Rule: read-replicas.md#read-your-writes.
 */
export interface Positions {
  /**
   * Takes the position after a commit and keeps it for organizations that wrote, before they are answered. Never
   * fails: if it cannot be taken or kept, the kept ones are dropped, and readers ask the primary.
   *
   * @returns the position as Postgres writes it; undefined if it is not known
   */
  keep(organizationIds: readonly OrganizationId[]): Promise<string | undefined>;
  /**
   * The position of an organization. If none is kept, because Redis has lost it or the organization has not written
   * lately, the primary is asked for its own, which covers all that was committed before.
   */
  of(organizationId: OrganizationId): Promise<Position>;
}

/** Undefined without replicas: nothing is taken, kept or sent then. */
export const positionsOf = (deps: PositionsDeps & { config: Config }): Positions | undefined =>
  deps.config.READ_DATABASE_URL.length === 0 ? undefined : createPositions(deps, deps.config.REDIS_PREFIX);

interface PositionsDeps {
  sql: Sql;
  redis: Redis;
  log: Log;
}

function createPositions({ sql, redis, log }: PositionsDeps, prefix: string): Positions {
  redis.defineCommand('raisePosition', { numberOfKeys: 1, lua: RAISE });
  // One question for all whose commits have ended when it is sent.
  const take = merged<void, Position>(async (askers) => {
    const position = await askPosition(sql);
    return askers.map(() => position);
  });
  const raise = async (organizationId: OrganizationId, position: Position): Promise<Position> =>
    readSortable(
      await (redis as PositionsRedis).raisePosition(
        positionKey(prefix, organizationId),
        sortableText(position),
        KEPT_SECONDS,
      ),
    );
  return {
    async keep(organizationIds) {
      try {
        const position = await take();
        await Promise.all(organizationIds.map((id) => raise(id, position)));
        return positionText(position);
      } catch (error) {
        log.warn(
          { err: (error as Error).message },
          'the position of a write is not known: its readers ask the primary',
        );
        const dropped = organizationIds.map((id) => redis.del(positionKey(prefix, id)));
        await Promise.allSettled(dropped); // whoever cannot reach Redis reads from the primary
        return undefined;
      }
    },
    async of(organizationId) {
      const kept = await redis.get(positionKey(prefix, organizationId));
      return kept === null ? raise(organizationId, await take()) : readSortable(kept);
    },
  };
}

async function askPosition(sql: Sql): Promise<Position> {
  const [row] = await sql<{ position: string }[]>`select pg_current_wal_insert_lsn()::text as position`;
  const position = readPosition(row!.position);
  assert(position !== undefined, 'Postgres names its position');
  return position;
}
