import { createBenchOrganization } from '../data/organization.ts';
import type { Environment } from '../harness/environment.ts';
import type { Effort } from '../harness/options.ts';
import { startProcess } from '../harness/processes.ts';
import { emptyFindings, type Findings } from '../harness/report.ts';
import { interleave, median, ratioOf } from '../harness/rounds.ts';
import { perSecond } from '../harness/units.ts';
import { eventRate } from '../load/event-rate.ts';
import { PROBE_OF_READS } from '../processes/probe-of-reads.ts';

/** G1, G14, G16: what the door itself costs, without storage. */
export async function measureHttp(environment: Environment, effort: Effort): Promise<Findings> {
  const findings = emptyFindings();
  const organization = await createBenchOrganization(environment, 'Bench http');
  const rate = eventRate(effort, organization.apiKey, { label: 'http', at: Math.floor(Date.now() / 1000) });

  // It has nothing to do: the door refuses events while there is no worker that would store them.
  const worker = await startProcess(environment, 'workers/events.js');
  const stock = await startProcess(environment, 'bench/processes/stock-express.js');
  const bare = await startProcess(environment, 'bench/processes/bare-http.js');
  const limited = await startProcess(environment, 'bench/processes/probe-ingress.js');
  const unlimited = await startProcess(environment, 'bench/processes/probe-ingress.js', { BENCH_LIMITER: 'off' });
  const figures = await interleave(effort.rounds, {
    baseline: rate(stock.url),
    bare: rate(bare.url),
    limited: rate(limited.url),
    unlimited: rate(unlimited.url),
    reads: rate(limited.url, PROBE_OF_READS),
  });
  await Promise.all([stock.stop(), bare.stop(), limited.stop(), unlimited.stop()]);
  findings.ratios.G1 = ratioOf(figures.limited, figures.baseline, figures.isNoisy);
  findings.ratios.G14 = ratioOf(figures.limited, figures.unlimited, figures.isNoisy);

  const beside = (values: number[]) => {
    const { median: middle, least, greatest } = ratioOf(values, figures.baseline, figures.isNoisy);
    const spread = `${middle.toFixed(2)} (${least.toFixed(2)} to ${greatest.toFixed(2)})`;
    return `${perSecond(median(values))}, ${spread} of stock Express`;
  };

  const one = await startProcess(environment, 'bench/processes/cluster.js', { BENCH_COPIES: '1' });
  const two = await startProcess(environment, 'bench/processes/cluster.js', { BENCH_COPIES: '2' });
  const copies = await interleave(effort.rounds, { baseline: rate(one.url), two: rate(two.url) });
  await Promise.all([one.stop(), two.stop(), worker.stop()]);
  findings.ratios.G16 = ratioOf(copies.two, copies.baseline, copies.isNoisy);

  findings.absolute = {
    'stock Express + JSON body': perSecond(median(figures.baseline)),
    'bare node:http': beside(figures.bare),
    'full stack, a read that asks for nothing': beside(figures.reads),
    'full stack': perSecond(median(figures.limited)),
    'full stack without limiter': perSecond(median(figures.unlimited)),
    'one process in a cluster': perSecond(median(copies.baseline)),
    'two processes in a cluster': perSecond(median(copies.two)),
  };
  return findings;
}
