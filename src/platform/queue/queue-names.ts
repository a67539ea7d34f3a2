import { type QueueName, queues } from '../../queues.ts';
import type { Config } from '../config.ts';
import type { OrganizationId } from '../ids.ts';

/** How many queues of Redis a queue consists of, where it is more than one. */
export type Parts = Partial<Record<QueueName, number>>;

export const partsOf = (config: Pick<Config, 'EVENTS_QUEUES'>): Parts => ({ events: config.EVENTS_QUEUES });

/**
 * Names of a queue in Redis: its own, or `events-0`, `events-1` … where it has several parts. Each lies on one node of
 * a cluster, so the parts of a queue may lie on several. Rule: redis-cluster.md#queues.
 */
export function storedNames(name: QueueName, parts: Parts): string[] {
  const count = parts[name] ?? 1;
  return count === 1 ? [name] : Array.from({ length: count }, (_, part) => `${name}-${part}`);
}

/** Names of all queues in Redis. */
export const allStoredNames = (parts: Parts): string[] =>
  (Object.keys(queues) as QueueName[]).flatMap((name) => storedNames(name, parts));

/** All keys of a queue have this in front, whose braces keep them on one node. */
export const keyPrefix = (prefix: string, storedName: string): string => `{${prefix}:${storedName}}`;

const FNV_BASIS = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** The part of a queue that has the jobs of an organization: the same in every process. FNV-1a of its id. */
export function partOf(organizationId: OrganizationId, count: number): number {
  if (count === 1) return 0;
  let hash = FNV_BASIS;
  for (let index = 0; index < organizationId.length; index += 1)
    hash = Math.imul(hash ^ organizationId.charCodeAt(index), FNV_PRIME);
  return (hash >>> 0) % count;
}
