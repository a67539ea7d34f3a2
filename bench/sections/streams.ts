import { CatalogCache } from '../../src/areas/catalog/usage-shapes/storing-catalog.ts';
import { DoorFacts } from '../../src/areas/usage/ai-doors/door-facts.ts';
import { runConnector } from '../../src/areas/usage/connectors/run-connector.ts';
import { createFinisherNudge } from '../../src/areas/usage/ingest-events/nudge-finisher.ts';
import { type StoreDeps, storeEvents } from '../../src/areas/usage/ingest-events/store-events.ts';
import { openKafka } from '../../src/platform/streams/kafka/kafka-source.ts';
import { kafkaSettings } from '../../src/platform/streams/kafka/settings.ts';
import { hasKcat, KafkaCluster } from '../../test/support/kafka-cluster.ts';
import { until } from '../../test/support/until.ts';
import { type EventSource, eventJson } from '../data/event-source.ts';
import { incomingEvents, singleBatches } from '../data/incoming.ts';
import { createBenchOrganization } from '../data/organization.ts';
import { sellCallsBefore } from '../data/sell-calls.ts';
import { cpuOfFamily } from '../harness/costs.ts';
import { type Environment, Missing } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, ratioOf } from '../harness/rounds.ts';
import { openHarnessRuntime } from '../harness/runtime.ts';
import { perSecond } from '../harness/units.ts';

const BATCH = 1000;
const BATCHES_A_ROUND = 40;
const EVENTS_A_ROUND = BATCH * BATCHES_A_ROUND;
const LOOK_EVERY_MS = 20;
const READ_WITHIN_MS = 300_000;

/**
 * G28: messages of Kafka until they are rows, one process, beside the storage function with batches of a thousand. The
 * clock runs from the first stored batch on, since joining a group takes seconds.
 *
 * @throws Missing without kcat
 */
export async function measureStreams(environment: Environment, effort: Effort): Promise<Findings> {
  if (!hasKcat()) throw new Missing('kcat is not installed');
  const findings = emptyFindings();
  const at = Math.floor(Date.now() / 1000);
  const organization = await createBenchOrganization(environment, 'Bench streams');
  await sellCallsBefore(environment, organization, at);
  const { id } = organization;
  const cluster = await KafkaCluster.start();
  const runtime = openHarnessRuntime(environment, 'bench streams');
  const finisher = createFinisherNudge(runtime.producer);
  const doors = new DoorFacts(() => performance.now());
  const deps = { ...runtime, finisher, doors, catalogs: new CatalogCache() };
  const cpuOfPostgres = async () =>
    environment.pids.postgres === undefined ? undefined : await cpuOfFamily(environment.pids.postgres);
  const cost: { reader: number[]; postgres: number[] } = { reader: [], postgres: [] };
  let round = 0;
  const next = (label: string): EventSource => {
    round += 1;
    return { label: `${label}-${round}`, at };
  };
  const fromKafka = async () => {
    const source = next('kafka');
    const topic = source.label;
    await cluster.produce(
      topic,
      Array.from({ length: EVENTS_A_ROUND }, (_, number) => eventJson(source, number)),
    );
    const settings = { ...kafkaSettings({}).parse({ brokers: cluster.brokers, topics: [topic] }), group: topic };
    const connector = { organizationId: id, code: topic, kind: 'kafka', isSandbox: false };
    const running = runConnector(deps, connector, openKafka(settings));
    const stored = () => countStored(environment, id, topic);
    const first = await until(stored, READ_WITHIN_MS, LOOK_EVERY_MS);
    const [started, cpu, before] = [performance.now(), process.cpuUsage(), await cpuOfPostgres()];
    await until(async () => (await stored()) === EVENTS_A_ROUND, READ_WITHIN_MS, LOOK_EVERY_MS);
    const seconds = (performance.now() - started) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    const after = await cpuOfPostgres();
    await running.close();
    // Microseconds an event are seconds a million events.
    cost.reader.push((user + system) / (EVENTS_A_ROUND - first));
    if (before !== undefined && after !== undefined) cost.postgres.push((after - before) / (EVENTS_A_ROUND - first));
    return (EVENTS_A_ROUND - first) / seconds;
  };
  const alone = () => storeAlone(deps, id, next('alone'));
  try {
    await alone();
    const figures = await interleave(effort.rounds, { baseline: alone, kafka: fromKafka });
    findings.ratios.G28 = ratioOf(figures.kafka, figures.baseline, figures.isNoisy);
    findings.absolute = {
      'storage function, batches of 1 000 in one': perSecond(median(figures.baseline)),
      'Kafka to rows': perSecond(median(figures.kafka)),
    };
    const told = Object.entries(cost).filter(([, seconds]) => seconds.length > 0);
    findings.notes.push(
      `processor time a million events: ${told.map(([who, seconds]) => `${who} ${median(seconds).toFixed(0)} s`).join(', ')}`,
    );
    findings.checks.push({
      what: 'messages of Kafka that are rows',
      expected: EVENTS_A_ROUND * cost.reader.length,
      found: await countStored(environment, id, ''),
    });
  } finally {
    await finisher.flush();
    await runtime.close();
    await cluster.stop();
  }
  return findings;
}

/** Events a second; they are parsed before the clock runs. */
async function storeAlone(deps: StoreDeps, organizationId: string, source: EventSource): Promise<number> {
  const batches = Array.from({ length: BATCHES_A_ROUND }, (_, index) => {
    const events = incomingEvents(source, index * BATCH, BATCH);
    const [one] = singleBatches(organizationId, events.slice(0, 1));
    return { ...one!, events };
  });
  const started = performance.now();
  for (const batch of batches) await storeEvents(deps, [batch]);
  return EVENTS_A_ROUND / ((performance.now() - started) / 1000);
}

async function countStored({ sql }: Environment, organizationId: string, topic: string): Promise<number> {
  const [row] = await sql<{ stored: number }[]>`
    select coalesce(sum(stored), 0)::int as stored from ingest_checkpoints
    where organization_id = ${organizationId} and starts_with(connector, ${topic})`;
  return row!.stored;
}
