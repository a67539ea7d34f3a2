import type { Redis } from 'ioredis';
import type { Config } from '../../../platform/config.ts';
import type { Producer } from '../../../platform/queue/producer.ts';
import { CatalogCache } from '../../catalog/usage-shapes/storing-catalog.ts';
import { openCounters } from '../access/counters.ts';
import { DoorFacts } from '../ai-doors/door-facts.ts';
import { createFinisherNudge } from '../ingest-events/nudge-finisher.ts';
import { readConnectorsFile } from './connectors-file.ts';
import { findOrganization } from './readers.ts';
import { type ConnectorDeps, type Running, runConnector } from './run-connector.ts';

/** Transactions that store messages of streams, one a connector, and what is said of them. */
export const CONNECTORS_CONNECTIONS = 6;

/**
 * Reads every source of the connectors file. One of an organization that does not exist is left out and named in the
 * log; the others go on.
 *
 * @throws ConfigError when the file is wrong
 * Rule: streams.md#connectors.
 */
export async function startConnectors(
  runtime: Omit<ConnectorDeps, 'catalogs' | 'doors' | 'producer'> & {
    config: Config;
    redis: Redis;
    producer: Producer;
  },
): Promise<{ close(): Promise<void> }[]> {
  const { config, redis, producer, sql, log } = runtime;
  if (config.CONNECTORS_FILE === undefined) {
    log.warn('CONNECTORS_FILE is not set: no stream is read');
    return [];
  }
  const configured = readConnectorsFile(config.CONNECTORS_FILE, config);
  const finisher = createFinisherNudge(producer);
  const deps: ConnectorDeps = {
    ...runtime,
    catalogs: new CatalogCache(),
    doors: new DoorFacts(() => performance.now()),
    finisher,
    counters: openCounters(redis, config.REDIS_PREFIX),
  };
  const started: Running[] = [];
  for (const { source, ...connector } of configured) {
    const [organization] = await findOrganization(sql, connector.organizationId);
    if (organization) {
      started.push(runConnector(deps, { ...connector, isSandbox: organization.sandbox }, source));
      continue;
    }
    log.error(
      { connector: connector.code, organization_id: connector.organizationId },
      'a connector names an organization that does not exist, and is not read',
    );
  }
  log.info({ connectors: started.length }, 'connectors started');
  return [
    {
      async close() {
        await Promise.all(started.map((each) => each.close()));
        await finisher.flush();
      },
    },
  ];
}
