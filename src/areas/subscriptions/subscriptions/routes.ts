import type { z } from 'zod';
import type { Context } from '../../../platform/context.ts';
import type { ExternalCustomerId } from '../../../platform/ids.ts';
import { limitOf, pageMeta, pageOf } from '../../../platform/lists/pagination.ts';
import type { Operation } from '../../../platform/operation.ts';
import { refuse } from '../../../platform/refusal.ts';
import { present } from '../../../platform/schema/view.ts';
import { checkBillingEntityCodes } from '../../customers/billing-entities/queries.ts';
import { getCustomer } from '../../customers/customers/queries.ts';
import { authorize, linkAuthorization } from './commands/authorization.ts';
import { createSubscription } from './commands/create.ts';
import { deleteSubscription, type TerminationInput } from './commands/terminate.ts';
import { updateSubscription } from './commands/update.ts';
import {
  countSubscriptions,
  findShownByExternalId,
  getShown,
  listSubscriptionsShown,
  type SubscriptionFilters,
} from './queries.ts';
import {
  CustomerSubscriptionsQuery,
  StatusQuery,
  SubscriptionCreateBody,
  SubscriptionCreateDocumented,
  SubscriptionEnvelope,
  SubscriptionExtendedEnvelope,
  SubscriptionsEnvelope,
  SubscriptionsQuery,
  SubscriptionUpdateBody,
  SubscriptionUpdateDocumented,
  TerminationQuery,
} from './schema.ts';
import { extendedView } from './show-subscription.ts';
import { subscriptionView } from './view.ts';

const own = { permission: 'subscription', tag: 'subscriptions' } as const;

const updateOne: Operation = {
  ...own,
  name: 'updateSubscription',
  method: 'put',
  path: '/subscriptions/:external_id',
  summary: 'Update a subscription',
  description: 'Fields that are left out keep their values.',
  query: StatusQuery,
  body: SubscriptionUpdateBody,
  documentedBody: SubscriptionUpdateDocumented,
  answer: SubscriptionEnvelope,
  kind: 'command',
  run: update,
};

export const subscriptionOperations: Operation[] = [
  {
    ...own,
    name: 'createSubscription',
    method: 'post',
    path: '/subscriptions',
    summary: 'Assign a plan to a customer, or change the plan of a subscription',
    description:
      'With the `external_id` of an active subscription and another plan it changes the plan: dearer at once, cheaper at the end of the period. It may begin in the past or later.',
    body: SubscriptionCreateBody,
    documentedBody: SubscriptionCreateDocumented,
    answer: SubscriptionExtendedEnvelope,
    kind: 'command',
    asks: ({ body }) => body.authorization !== undefined,
    run: create,
  },
  {
    ...own,
    name: 'findAllSubscriptions',
    method: 'get',
    path: '/subscriptions',
    summary: 'List subscriptions',
    query: SubscriptionsQuery,
    answer: SubscriptionsEnvelope,
    kind: 'read',
    run: (ctx: Context, { query }: { query: z.infer<typeof SubscriptionsQuery> }) =>
      listPage(ctx, query, query.external_customer_id),
  },
  {
    ...own,
    name: 'findSubscription',
    method: 'get',
    path: '/subscriptions/:external_id',
    summary: 'Retrieve a subscription',
    query: StatusQuery,
    answer: SubscriptionExtendedEnvelope,
    kind: 'read',
    run: show,
  },
  updateOne,
  { ...updateOne, name: 'patchSubscription', method: 'patch', hidden: true },
  {
    ...own,
    name: 'destroySubscription',
    method: 'delete',
    path: '/subscriptions/:external_id',
    summary: 'Terminate a subscription',
    description:
      'The last invoice is made at once, and what was paid in advance and not used is credited, unless the parameters say otherwise.',
    query: TerminationQuery,
    answer: SubscriptionEnvelope,
    kind: 'command',
    run: destroy,
  },
  {
    ...own,
    name: 'findAllCustomerSubscriptions',
    method: 'get',
    path: '/customers/:external_customer_id/subscriptions',
    summary: 'List the subscriptions of a customer',
    tag: 'customers',
    query: CustomerSubscriptionsQuery,
    answer: SubscriptionsEnvelope,
    kind: 'read',
    run: listOfCustomer,
  },
];

async function create(ctx: Context, { body }: { body: z.infer<typeof SubscriptionCreateBody> }) {
  const authorization = body.authorization && (await authorize(ctx, body, body.authorization));
  const id = await createSubscription(ctx, body);
  if (authorization) await linkAuthorization(ctx, id);
  const subscription = await extendedView(ctx, await getShown(ctx, id));
  return { subscription, ...present({ authorization }) };
}

async function show(ctx: Context, { external_id, query }: { external_id: string; query: z.infer<typeof StatusQuery> }) {
  const row = await findShownByExternalId(ctx, external_id, query.status);
  if (!row) throw refuse.notFound('subscription');
  return { subscription: await extendedView(ctx, row) };
}

interface UpdateInput {
  external_id: string;
  query: z.infer<typeof StatusQuery>;
  body: z.infer<typeof SubscriptionUpdateBody>;
}

async function update(ctx: Context, { external_id, query, body }: UpdateInput) {
  const id = await updateSubscription(ctx, external_id, body.lineage_status ?? query.status, body);
  return envelope(ctx, id);
}

async function destroy(ctx: Context, input: TerminationInput) {
  return envelope(ctx, await deleteSubscription(ctx, input));
}

async function envelope(ctx: Context, id: string) {
  return { subscription: subscriptionView(await getShown(ctx, id), ctx.now()) };
}

async function listOfCustomer(
  ctx: Context,
  {
    external_customer_id,
    query,
  }: { external_customer_id: ExternalCustomerId; query: z.infer<typeof CustomerSubscriptionsQuery> },
) {
  const customer = await getCustomer(ctx, external_customer_id);
  return listPage(ctx, query, customer.external_id);
}

async function listPage(
  ctx: Context,
  query: z.infer<typeof CustomerSubscriptionsQuery>,
  externalCustomerId: ExternalCustomerId | undefined,
) {
  const filters: SubscriptionFilters = {
    ...query,
    external_customer_id: externalCustomerId,
    statuses: query.status,
    overridden: query.overridden ?? query.overriden,
  };
  await checkBillingEntityCodes(ctx, query.billing_entity_codes ?? []);
  const { rows, total } = await pageOf(query, {
    rows: () => listSubscriptionsShown(ctx, filters, limitOf(query)),
    count: () => countSubscriptions(ctx, filters),
  });
  return { subscriptions: rows.map((row) => subscriptionView(row, ctx.now())), meta: pageMeta(query, total) };
}
