import { useRead } from '../../frame/use-read.ts';
import { money } from '../../parts/amounts.ts';
import { Chart } from '../../parts/chart.tsx';
import { t } from '../../texts/en.ts';

const words = t.subscriptions.series;

export interface UsageSeries {
  currency: string;
  step: string;
  steps: string[];
  charges: {
    charge_code: string | null;
    billable_metric_code: string | null;
    amount_cents: (number | null)[];
    cumulative_amount_cents: (number | null)[];
  }[];
  cumulative_amount_cents: (number | null)[];
  projection: { amount_cents: number | null; low_cents: number | null; high_cents: number | null };
}

const MOST_LINES = 4;

export const seriesPath = (externalId: string): string =>
  `/subscriptions/${encodeURIComponent(externalId)}/usage_series`;

/** How the usage of the period came to its amount, day by day. */
export function UsageChart({ externalId }: { externalId: string }) {
  const { data } = useRead<{ usage_series: UsageSeries }>(seriesPath(externalId), { everySeconds: 30 });
  const series = data?.usage_series;
  if (!series || series.charges.length === 0 || series.steps.length < 2) return null;
  const xs = series.steps.map((day) => Date.parse(`${day.slice(0, 10)}T00:00:00Z`) / 1000);
  const lines = series.charges.slice(0, MOST_LINES).map((charge) => ({
    label: charge.charge_code ?? words.others,
    values: charge.cumulative_amount_cents,
  }));
  return (
    <div class="card padded chart-card">
      <Chart title={words.title} xs={xs} series={lines} format={(cents) => money(Math.round(cents), series.currency)} />
    </div>
  );
}
