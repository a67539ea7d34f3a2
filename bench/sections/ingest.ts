import { realNowMs } from '../../src/platform/clock/real-clock.ts';
import type { Environment } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { checkStored } from './ingest/checks.ts';
import { measureOverHttp } from './ingest/over-http.ts';
import { type IngestRun, prepareRun } from './ingest/run.ts';
import { measureStorage } from './ingest/storage.ts';

/** G2, G4, G5, G6, G7: events from the door to the disk, answered after they are stored. */
export async function measureIngest(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const run: IngestRun = await prepareRun(environment, effort, Math.floor(realNowMs() / 1000));
  await measureStorage(run, findings);
  await measureOverHttp(run, findings);
  await checkStored(run, findings);
  return findings;
}
