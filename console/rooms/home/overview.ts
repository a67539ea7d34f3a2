export const OVERVIEW_PATH = '/analytics/overview';

export interface Count {
  count: number;
  more: boolean;
}

export interface CurrencyOverview {
  currency: string;
  revenue: { month_to_date_cents: number; same_days_last_month_cents: number; last_month_cents: number };
  mrr: { starting: number; ending: number };
  collection: { succeeded_cents: number; pending_cents: number; failed_cents: number; rate: string | null };
  overdue: { total_cents: number; invoices_count: number; ageing: Record<string, number> };
  usage_to_date_cents: number;
}

export interface Overview {
  currencies: CurrencyOverview[];
  customers: Count;
  active_subscriptions: Count;
  events_today: Count;
}

/** A share with four decimals as percent, without a float: `0.8571` is `85.71 %`. */
export function percentOf(rate: string | null): string {
  const [, whole = '0', fraction = ''] = /^(\d+)\.(\d+)$/.exec(rate ?? '') ?? [];
  if (rate === null) return '–';
  const digits = `${whole}${fraction.padEnd(4, '0').slice(0, 4)}`.replace(/^0+(?=\d{3})/, '');
  return `${digits.slice(0, -2)}.${digits.slice(-2)} %`;
}
