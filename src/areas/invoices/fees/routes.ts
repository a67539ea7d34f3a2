import type { Context } from '../../../platform/context.ts';
import { isUuid } from '../../../platform/ids.ts';
import { boundedPage } from '../../../platform/lists/bounded-page.ts';
import { limitOf, pageMeta } from '../../../platform/lists/pagination.ts';
import type { Operation } from '../../../platform/operation.ts';
import { refuse } from '../../../platform/refusal.ts';
import { deleteFee, updateFee } from './commands.ts';
import { countFees, getFee, listFees } from './queries.ts';
import { FeeEnvelope, FeesEnvelope, FeesQuery, FeeUpdate } from './schema.ts';
import { feeView } from './view.ts';

const update: Operation = {
  name: 'updateFee',
  method: 'put',
  path: '/fees/:svc_id',
  permission: 'fee',
  summary: 'Set the payment status of a standalone fee',
  tag: 'fees',
  root: 'fee',
  body: FeeUpdate,
  answer: FeeEnvelope,
  kind: 'command',
  run: updateFee,
};

export const feeOperations: Operation[] = [
  {
    name: 'findAllFees',
    method: 'get',
    path: '/fees',
    permission: 'fee',
    summary: 'List fees',
    tag: 'fees',
    query: FeesQuery,
    answer: FeesEnvelope,
    kind: 'read',
    run: listFeesPage,
  },
  {
    name: 'findFee',
    method: 'get',
    path: '/fees/:svc_id',
    permission: 'fee',
    summary: 'Retrieve a fee',
    tag: 'fees',
    answer: FeeEnvelope,
    kind: 'read',
    run: showFee,
  },
  update,
  { ...update, name: 'patchFee', method: 'patch', hidden: true },
  {
    name: 'deleteFee',
    method: 'delete',
    path: '/fees/:svc_id',
    permission: 'fee',
    summary: 'Delete a standalone fee',
    tag: 'fees',
    answer: FeeEnvelope,
    kind: 'command',
    run: deleteFee,
  },
];

/** @throws Refusal 422 page: value_is_out_of_range, too deep in a list that goes on there */
async function listFeesPage(ctx: Context, { query }: { query: FeesQuery }) {
  const { rows, total } = await boundedPage(query, {
    rows: () => listFees(ctx, query, limitOf(query)),
    count: () => countFees(ctx, query),
  });
  return { fees: rows.map(feeView), meta: pageMeta(query, total) };
}

async function showFee(ctx: Context, { svc_id }: { svc_id: string }) {
  if (!isUuid(svc_id)) throw refuse.notFound('fee');
  return { fee: feeView(await getFee(ctx, svc_id)) };
}
