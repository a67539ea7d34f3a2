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
import { median, ratioOf } from '../harness/rounds.ts';
import { openHarnessRuntime } from '../harness/runtime.ts';
import { milliseconds } from '../harness/units.ts';

const BATCH = 1000;
/** Batches that are stored, and batches that are sent again, each time it is measured. */
const BATCHES = 20;
const WARM_UP_BATCHES = 5;
/** Keys with which the baseline is measured. */
const FEW = 1_000_000;

/**
 * S2: the time of storing a batch of 1 000, and of answering one whose events were stored before all other keys, with
 * very many keys against a million. The worse of the two counts. The keys between them are of the same organization, so
 * they lie in one part, whose index is as deep as it gets.
 */
export async function measureKeys(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const { id } = await createBenchOrganization(environment, 'Bench keys');
  const runtime = openHarnessRuntime(environment, 'bench keys');
  const finisher = createFinisherNudge(runtime.producer);
  const deps = { ...runtime, finisher, catalogs: new CatalogCache() };
  const source = { label: 'keys', at: Math.floor(Date.now() / 1000) };
  let first = 0;
  const next = () => {
    const batch = singleBatches(id, incomingEvents(source, first, BATCH));
    first += BATCH;
    return batch;
  };
  const store = async (batch: IncomingBatch[], expected: (verdict: unknown) => boolean) => {
    const started = performance.now();
    const verdicts = await storeEvents(deps, batch);
    const took = performance.now() - started;
    const wrong = verdicts.flat().filter((verdict) => !expected(verdict)).length;
    findings.checks.push({ what: 'other verdicts than expected', expected: 0, found: wrong });
    return took;
  };
  const isNew = (verdict: unknown) => verdict === 0;
  const isReplayed = (verdict: unknown) => typeof verdict === 'object' && verdict !== null && 'r' in verdict;
  const oldest = Array.from({ length: BATCHES }, next);
  for (const batch of oldest) await store(batch, isNew);
  const measure = async () => {
    for (let n = 0; n < WARM_UP_BATCHES; n += 1) await store(next(), isNew);
    const [stored, replayed]: [number[], number[]] = [[], []];
    for (const batch of oldest) {
      stored.push(await store(next(), isNew));
      replayed.push(await store(batch.map(sentAgain), isReplayed));
    }
    return { stored, replayed };
  };
  await fillKeys(environment, id, FEW);
  const few = await measure();
  await fillKeys(environment, id, effort.keys - FEW);
  const many = await measure();
  await finisher.flush();
  await runtime.close();
  const ratios = [ratioOf(many.stored, few.stored, false), ratioOf(many.replayed, few.replayed, false)];
  findings.ratios.S2 = ratios.reduce((worse, each) => (each.median > worse.median ? each : worse));
  for (const [name, times] of Object.entries({ [String(FEW)]: few, [String(effort.keys)]: many })) {
    findings.absolute[`storing ${BATCH} with ${name} keys`] = milliseconds(median(times.stored));
    findings.absolute[`replaying ${BATCH} with ${name} keys`] = milliseconds(median(times.replayed));
  }
  findings.notes.push('ratios by position in the run; all keys of one organization, the replayed ones the oldest');
  return findings;
}

/** The same events in a later request. */
const sentAgain = (batch: IncomingBatch): IncomingBatch => ({
  ...batch,
  events: batch.events.map((event) => ({ ...event, id: newId() as typeof event.id })),
});
