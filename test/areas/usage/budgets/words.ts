import type { TestService } from '../../../support/service.ts';

export type Org = Awaited<ReturnType<TestService['org']>>;

/** Customer `ada` with subscription `ada-1`, to a plan without charges. */
export async function subscribe(org: Org): Promise<void> {
  await org.post('/billable_metrics', {
    billable_metric: { name: 'Calls', code: 'ai_usage', aggregation_type: 'sum_agg', field_name: 'calls' },
  });
  await org.post('/plans', {
    plan: { name: 'P', code: 'p', interval: 'monthly', amount_cents: 0, amount_currency: 'USD', pay_in_advance: false },
  });
  await org.post('/customers', { customer: { external_id: 'ada', name: 'Ada', currency: 'USD' } });
  await org.post('/subscriptions', {
    subscription: { external_customer_id: 'ada', plan_code: 'p', external_id: 'ada-1' },
  });
}

/** A hard budget of amounts by month, with what is given. */
export const budget = (org: Org, code: string, limit: string, fields: object = {}) =>
  org.post('/budgets', {
    budget: {
      code,
      name: code,
      scope: 'organization',
      measure: 'amount',
      currency: 'USD',
      period: 'month',
      limit,
      ...fields,
    },
  });

/** A decision of subscription `ada-1`. */
export const decide = (org: Org, decision: object, options = {}) =>
  org.post('/budget_decisions', { decision: { external_subscription_id: 'ada-1', ...decision } }, options);

/** An event of `ada-1` with an amount of cents. */
export const event = (transaction_id: string, amount: string, fields: object = {}) => ({
  transaction_id,
  external_subscription_id: 'ada-1',
  code: 'ai_usage',
  properties: { calls: 1 },
  precise_total_amount_cents: amount,
  ...fields,
});

/** `limit spent held state` of the newest window of a budget. */
export async function figures(org: Org, code: string): Promise<string> {
  const { body } = await org.get(`/budgets/${code}/windows`);
  const [window] = body.windows;
  return window ? `${window.limit} ${window.spent} ${window.held} ${window.state}` : 'none';
}

/** Outgoing events of a type about windows, oldest first. */
export async function announced(
  { sql }: TestService,
  { organization }: Org,
  type: string,
): Promise<Record<string, unknown>[]> {
  const rows = await sql<{ payload: string }[]>`
    select payload from webhook_events
    where organization_id = ${organization.organization_id} and webhook_type = ${type} order by id`;
  return rows.map(({ payload }) => JSON.parse(payload).budget_window);
}
