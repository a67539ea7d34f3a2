import { expect } from 'vitest';
import { type ClientStory, firstOf } from './story.ts';

/** Reports on money and usage. */
export async function report({ api }: ClientStory): Promise<void> {
  const { analytics } = api;
  await firstOf(async () => (await analytics.findAllGrossRevenues({ currency: 'EUR' })).data.gross_revenues);
  await firstOf(async () => (await analytics.findAllInvoiceCollections()).data.invoice_collections);
  await firstOf(async () => (await analytics.findAllInvoicedUsages()).data.invoiced_usages);
  await firstOf(async () => (await analytics.findAllMrrs()).data.mrrs);
  await analytics.findAllOverdueBalances({ external_customer_id: 'slow' });
  await analytics.findAllUsages({ time_granularity: 'monthly' });
}

/** Who did what, and what was asked of the interface. */
export async function lookBack({ api }: ClientStory): Promise<void> {
  const activity = await firstOf(async () => {
    const list = await api.activityLogs.findAllActivityLogs({ 'activity_types[]': ['plan.created'] });
    return list.data.activity_logs;
  });
  expect((await api.activityLogs.findActivityLog(activity.activity_id)).data.activity_log.activity_type).toBe(
    'plan.created',
  );
  const request = await firstOf(async () => {
    const list = await api.apiLogs.findAllApiLogs({ 'http_methods[]': ['post'], 'http_statuses[]': [200] });
    return list.data.api_logs;
  });
  expect((await api.apiLogs.findApiLog(request.request_id)).data.api_log.http_method).toBe('post');
}
