import { useRead } from '../../frame/use-read.ts';
import { count, decimal } from '../../parts/amounts.ts';
import { Chart } from '../../parts/chart.tsx';
import { Figure } from '../../parts/figure.tsx';
import { t } from '../../texts/en.ts';

const words = t.webhooks.health;

interface Health {
  succeeded: number;
  failed: number;
  pending: number;
  success_rate: string | null;
  p50_ms: number | null;
  p95_ms: number | null;
  points: { hour: string; succeeded: number; failed: number }[];
}

/** A share of the last day below which an endpoint asks for attention. */
const HEALTHY_RATE = '0.9500';
const isUnhealthy = ({ success_rate: rate }: Health): boolean => rate !== null && rate < HEALTHY_RATE;

/** `0.9870` as `98.7 %`: two places further, digits kept. */
function percent(rate: string | null): string {
  if (rate === null) return words.none;
  const digits = rate.replace('.', '');
  return words.percent(decimal(`${Number(digits.slice(0, 3))}.${digits.slice(3)}`));
}

const latency = (ms: number | null): string =>
  ms === null ? '–' : ms < 1000 ? words.milliseconds(count(ms)) : words.seconds(decimal(String(ms / 1000)));

const healthPath = (path: string) => `${path}/health?hours=24`;

/** How well an endpoint has answered in the last day. */
export function EndpointHealth({ path }: { path: string }) {
  const asked = healthPath(path);
  const { data } = useRead<{ health: Health }>(asked, { everySeconds: 10 });
  const health = data?.health;
  if (!health) return null;
  const seconds = health.points.map(({ hour }) => Date.parse(hour) / 1000);
  return (
    <div class="health">
      <div class="figures">
        <Figure
          label={words.rate}
          value={percent(health.success_rate)}
          tone={isUnhealthy(health) ? 'bad' : undefined}
          note={words.rateNote(count(health.succeeded), count(health.failed))}
          origin={{ path: asked, formula: words.rateFormula }}
        />
        <Figure
          label={words.median}
          value={latency(health.p50_ms)}
          note={health.p95_ms === null ? '' : words.medianNote(latency(health.p95_ms))}
          origin={{ path: asked, formula: words.medianFormula }}
        />
        <Figure
          label={words.waiting}
          value={count(health.pending)}
          note={words.waitingNote}
          origin={{ path: asked, formula: words.waitingFormula }}
        />
      </div>
      {health.succeeded + health.failed > 0 && (
        <Chart
          title={words.chart}
          xs={seconds}
          series={[
            { label: words.succeeded, values: health.points.map((point) => point.succeeded) },
            { label: words.failed, values: health.points.map((point) => point.failed) },
          ]}
          format={(value) => count(Math.round(value))}
        />
      )}
    </div>
  );
}

/** Rate and latency in a row of the list: an organization has ten endpoints at most. */
export function HealthCells({ id }: { id: string }) {
  const { data } = useRead<{ health: Health }>(healthPath(`/webhook_endpoints/${encodeURIComponent(id)}`));
  const health = data?.health;
  if (!health) return <span class="soft">–</span>;
  return (
    <>
      <span class={isUnhealthy(health) ? 'down' : ''}>{percent(health.success_rate)}</span>
      {health.p95_ms !== null && <span class="second">{words.medianNote(latency(health.p95_ms))}</span>}
    </>
  );
}
