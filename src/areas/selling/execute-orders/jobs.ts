import { z } from 'zod';
import { selected } from '../../../platform/db/keyset.ts';
import type { OrganizationId } from '../../../platform/ids.ts';
import { type DueItem, periodicJob } from '../../../platform/periodic-job.ts';
import { endOrderForm, lockOrderForm } from '../order-forms/commands.ts';
import { earliestExecution, earliestExpiry, listDueOrders, listExpiredForms } from './due-orders.ts';
import { execute, lockOrder } from './execute-order.ts';

interface Due {
  organization_id: OrganizationId;
  sandbox: boolean;
  id: string;
}

const RecordItem = z.object({ id: z.guid() });

const dueItem =
  (type: 'Order' | 'OrderForm') =>
  ({ organization_id, sandbox, id }: Due): DueItem<{ id: string }> => ({
    organization_id,
    sandbox,
    item: { id },
    key: id,
    resource: { type, id },
  });

/**
 * Executes orders whose time has come. One that is refused fails, and is tried again by hand only.
 * Rules: periodic-jobs.md#execute-orders, quotes.md#execution.
 */
export const executeOrders = periodicJob({
  name: 'execute-orders',
  item: RecordItem,
  select: async (sql, at, reach, page) => selected(await listDueOrders(sql, at, reach, page), page, dueItem('Order')),
  async work(ctx, item) {
    const order = await lockOrder(ctx, item.id);
    if (order.status !== 'created' || order.execution_mode === null) return;
    await execute(ctx, order, order.execution_mode);
  },
  nextDueAt: async (scope) => (await earliestExecution(scope))[0]!.at,
});

/**
 * Ends order forms that were not signed, in the first tick of the local day on which they expire, and their versions.
 * Rules: periodic-jobs.md#expire-order-forms, quotes.md#execution.
 */
export const expireOrderForms = periodicJob({
  name: 'expire-order-forms',
  item: RecordItem,
  select: async (sql, at, reach, page) =>
    selected(await listExpiredForms(sql, at, reach, page), page, dueItem('OrderForm')),
  async work(ctx, item) {
    const form = await lockOrderForm(ctx, item.id);
    if (form.status === 'generated') await endOrderForm(ctx, form, 'expired');
  },
  nextDueAt: async (scope) => (await earliestExpiry(scope))[0]!.at,
});
