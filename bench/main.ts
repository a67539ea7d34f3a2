import { cpus } from 'node:os';
import { type Environment, Missing, openEnvironment } from './harness/environment.ts';
import type { GoalId } from './harness/goals.ts';
import { type Effort, readOptions, type SectionName } from './harness/options.ts';
import {
  type Check,
  type Findings,
  fails,
  type Line,
  lineOf,
  printFindings,
  printHeadings,
  printLine,
  writeJson,
} from './harness/report.ts';
import { measureAiUsage } from './sections/ai-usage.ts';
import { measureBilling } from './sections/billing.ts';
import { measureCells } from './sections/cells.ts';
import { measureCluster } from './sections/cluster.ts';
import { measureDeadEndpoint } from './sections/dead-endpoint.ts';
import { measureFormerKey } from './sections/former-key.ts';
import { measureHeavyUsage } from './sections/heavy-usage.ts';
import { measureHotRow } from './sections/hot-row.ts';
import { measureHttp } from './sections/http.ts';
import { measureIngest } from './sections/ingest.ts';
import { measureKeys } from './sections/keys.ts';
import { measureLatency } from './sections/latency.ts';
import { measureNeighbours } from './sections/neighbours.ts';
import { measurePositions } from './sections/positions.ts';
import { measureQueue } from './sections/queue.ts';
import { measureReconcile } from './sections/reconcile.ts';
import { measureReplica } from './sections/replica.ts';
import { measureStreams } from './sections/streams.ts';
import { measureTicks } from './sections/ticks.ts';
import { measureUsage } from './sections/usage.ts';
import { measureWebhooks } from './sections/webhooks.ts';
import { measureWindow } from './sections/window.ts';
import { measureWriteThrough } from './sections/write-through.ts';

interface Section {
  ids: GoalId[];
  measure?: (environment: Environment, effort: Effort) => Promise<Findings>;
}

const sections: Record<SectionName, Section> = {
  http: { ids: ['G1', 'G14', 'G16'], measure: measureHttp },
  ingest: { ids: ['G2', 'G4', 'G5', 'G6', 'G7'], measure: measureIngest },
  'write-through': { ids: ['G8', 'G9'], measure: measureWriteThrough },
  usage: { ids: ['G10', 'G11', 'G17'], measure: measureUsage },
  webhooks: { ids: ['G12'], measure: measureWebhooks },
  queue: { ids: ['G13', 'G15'], measure: measureQueue },
  billing: { ids: ['G18'], measure: measureBilling },
  window: { ids: ['G19'], measure: measureWindow },
  neighbours: { ids: ['G20', 'G21', 'G22'], measure: measureNeighbours },
  'heavy-usage': { ids: ['G23'], measure: measureHeavyUsage },
  'dead-endpoint': { ids: ['G24'], measure: measureDeadEndpoint },
  reconcile: { ids: ['G25'], measure: measureReconcile },
  cluster: { ids: ['S5'], measure: measureCluster },
  latency: { ids: ['G26', 'G27'], measure: measureLatency },
  ticks: { ids: ['S7'], measure: measureTicks },
  keys: { ids: ['S2'], measure: measureKeys },
  positions: { ids: ['S3'], measure: measurePositions },
  cells: { ids: ['S6', 'S8'], measure: measureCells },
  'former-key': { ids: ['S1'], measure: measureFormerKey },
  'hot-row': { ids: ['S9'], measure: measureHotRow },
  replica: { ids: ['S4'], measure: measureReplica },
  streams: { ids: ['G28'], measure: measureStreams },
  'ai-usage': { ids: ['B7'], measure: measureAiUsage },
};

async function run(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  const started = performance.now();
  const lines: Line[] = [];
  const checks: Check[] = [];
  const costs: Findings['costs'] = {};
  const skip = (name: SectionName, reason: string) => {
    for (const id of sections[name].ids) show({ id, status: 'skipped', reason });
  };
  const show = (line: Line) => {
    lines.push(line);
    printLine(line);
  };

  let environment: Environment;
  try {
    environment = await openEnvironment();
  } catch (error) {
    if (!(error instanceof Missing)) throw error;
    printHeadings();
    for (const name of options.only) skip(name, error.message);
    return 0;
  }
  const stop = stopAtSignal(environment);
  for (const [name, value] of Object.entries(environment.versions)) console.log(`${name} ${value}`);
  console.log(
    `${options.quick ? 'quick, ' : ''}${options.effort.rounds} rounds, ${cpus()[0]?.model ?? 'unknown'} cores\n`,
  );
  printHeadings();
  try {
    for (const name of options.only) {
      const { measure } = sections[name];
      if (!measure) {
        skip(name, 'not part of the service yet');
        continue;
      }
      const sectionStarted = performance.now();
      const findings = await measure(environment, options.effort).catch((error: unknown) => {
        if (!(error instanceof Missing)) throw error;
        skip(name, error.message);
      });
      if (!findings) continue;
      for (const [id, ratio] of Object.entries(findings.ratios)) show(lineOf(id as GoalId, ratio));
      printFindings(findings, options.absolute);
      console.log(`     ${name} took ${seconds(sectionStarted)} s`);
      checks.push(...findings.checks);
      Object.assign(costs, findings.costs);
    }
  } finally {
    stop();
    await environment.close();
  }
  const failed = fails(lines, checks, costs);
  const tookSeconds = Number(seconds(started));
  if (options.json)
    writeJson(options.json, { ...environment.versions, quick: options.quick, tookSeconds, lines, checks, costs });
  console.log(`\n${failed ? 'FAILED' : 'passed'} after ${tookSeconds} s`);
  return failed ? 1 : 0;
}

const seconds = (since: number): string => ((performance.now() - since) / 1000).toFixed(0);

/** Ctrl-C stops everything that was started. */
function stopAtSignal(environment: Environment): () => void {
  const stop = () => void environment.close().finally(() => process.exit(130));
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
  return () => {
    process.off('SIGINT', stop);
    process.off('SIGTERM', stop);
  };
}

process.exitCode = await run();
