import { CatalogCache } from '../../src/areas/catalog/usage-shapes/storing-catalog.ts';
import type { IncomingBatch } from '../../src/areas/usage/events/incoming-event.ts';
import { createFinisherNudge } from '../../src/areas/usage/ingest-events/nudge-finisher.ts';
import { storeEvents } from '../../src/areas/usage/ingest-events/store-events.ts';
import { newId } from '../../src/platform/ids.ts';
import { incomingEvents, singleBatches } from '../data/incoming.ts';
import { fillKeys } from '../data/keys.ts';
import { createBenchOrganization } from '../data/organization.ts';
import type { Environment } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, ratioOf } from '../harness/rounds.ts';
import { openHarnessRuntime } from '../harness/runtime.ts';
import { milliseconds } from '../harness/units.ts';

const BATCH = 1000;
/** Batches that are stored, and batches that are sent again, each time it is measured. */
const BATCHES = 20;
const WARM_UP_BATCHES = 5;
/** Keys with which the baseline is measured. */
const FEW = 1_000_000;

/**
 * S2: the time of storing a batch of 1 000, and of answering one whose events were stored before all other keys, of an
 * organization with very many keys against one with a million, whose keys lie in another part. The worse of the two
 * counts.
 */
export async function measureKeys(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const runtime = openHarnessRuntime(environment, 'bench keys');
  const finisher = createFinisherNudge(runtime.producer);
  const deps: Deps = { ...runtime, finisher, catalogs: new CatalogCache() };
  const few = await openKeeper(environment, deps, findings);
  let many = await openKeeper(environment, deps, findings);
  while (many.part === few.part) many = await openKeeper(environment, deps, findings);
  await few.prepare(FEW);
  await many.prepare(effort.keys);
  for (const { store } of [few, many]) for (let n = 0; n < WARM_UP_BATCHES; n += 1) await store();
  const stored = await interleave(BATCHES, { baseline: few.store, many: many.store });
  const replayed = await interleave(BATCHES, { baseline: few.replay, many: many.replay });
  await finisher.flush();
  await runtime.close();
  const ratios = [stored, replayed].map((each) => ratioOf(each.many, each.baseline, each.isNoisy));
  findings.ratios.S2 = ratios.reduce((worse, each) => (each.median > worse.median ? each : worse));
  for (const [name, figures] of Object.entries({ storing: stored, replaying: replayed })) {
    findings.absolute[`${name} ${BATCH} with ${FEW} keys`] = milliseconds(median(figures.baseline));
    findings.absolute[`${name} ${BATCH} with ${effort.keys} keys`] = milliseconds(median(figures.many));
  }
  findings.notes.push('all keys of one organization, which lie in one part; the replayed ones are the oldest');
  return findings;
}

type Deps = Parameters<typeof storeEvents>[0];

/** An organization whose keys are counted, and which part of the table has them. */
async function openKeeper(environment: Environment, deps: Deps, findings: Findings) {
  const { id } = await createBenchOrganization(environment, 'Bench keys');
  const source = { label: 'keys', at: Math.floor(Date.now() / 1000) };
  const [row] = await environment.sql<{ part: number }[]>`
    select part from generate_series(0, 15) part
    where satisfies_hash_partition('event_keys'::regclass, 16, part, ${id}::uuid)`;
  let [first, again] = [0, 0];
  const next = () => {
    const batch = singleBatches(id, incomingEvents(source, first, BATCH));
    first += BATCH;
    return batch;
  };
  const send = async (batch: IncomingBatch[], expected: (verdict: unknown) => boolean) => {
    const started = performance.now();
    const verdicts = await storeEvents(deps, batch);
    const took = performance.now() - started;
    const wrong = verdicts.flat().filter((verdict) => !expected(verdict)).length;
    findings.checks.push({ what: 'other verdicts than expected', expected: 0, found: wrong });
    return took;
  };
  const oldest = Array.from({ length: BATCHES }, next);
  return {
    part: row!.part,
    /** Stores what is replayed later, then adds keys. */
    async prepare(keys: number) {
      for (const batch of oldest) await send(batch, isNew);
      await fillKeys(environment, id, keys);
    },
    store: () => send(next(), isNew),
    replay() {
      again += 1;
      return send(oldest[again % BATCHES]!.map(sentAgain), isReplayed);
    },
  };
}

const isNew = (verdict: unknown): boolean => verdict === 0;
const isReplayed = (verdict: unknown): boolean => typeof verdict === 'object' && verdict !== null && 'r' in verdict;

/** The same events in a later request. */
const sentAgain = (batch: IncomingBatch): IncomingBatch => ({
  ...batch,
  events: batch.events.map((event) => ({ ...event, id: newId() as typeof event.id })),
});
