import { z } from 'zod';
import type { Operation } from '../../platform/operation.ts';
import {
  createSubscriptionAlerts,
  deleteSubscriptionAlert,
  deleteSubscriptionAlerts,
  updateSubscriptionAlert,
} from './commands.ts';
import {
  AlertCreateBody,
  AlertCreateDocumented,
  AlertEnvelope,
  AlertList,
  AlertListQuery,
  AlertOrAlerts,
  AlertUpdate,
  AlertUpdateDocumented,
} from './schema.ts';
import { listSubscriptionAlerts, showSubscriptionAlert } from './shown.ts';

const shared = { permission: 'alert', tag: 'subscriptions' } as const;
const ofAll = { ...shared, path: '/subscriptions/:external_id/alerts' } as const;
const ofOne = { ...shared, path: '/subscriptions/:external_id/alerts/:code', answer: AlertEnvelope } as const;

const updateOne: Operation = {
  ...ofOne,
  name: 'updateSubscriptionAlert',
  method: 'put',
  summary: 'Update an alert of a subscription',
  root: 'alert',
  body: AlertUpdate,
  documentedBody: AlertUpdateDocumented,
  kind: 'command',
  run: updateSubscriptionAlert,
};

export const alertOperations: Operation[] = [
  {
    ...ofAll,
    name: 'getSubscriptionAlerts',
    method: 'get',
    summary: 'List the alerts of a subscription',
    query: AlertListQuery,
    answer: AlertList,
    kind: 'read',
    run: listSubscriptionAlerts,
  },
  {
    ...ofAll,
    name: 'createSubscriptionAlert',
    method: 'post',
    summary: 'Create one or several alerts of a subscription',
    body: AlertCreateBody,
    documentedBody: AlertCreateDocumented,
    answer: AlertOrAlerts,
    kind: 'command',
    run: createSubscriptionAlerts,
  },
  {
    ...ofAll,
    name: 'deleteAllSubscriptionAlerts',
    method: 'delete',
    summary: 'Delete all alerts of a subscription',
    answer: z.null(),
    kind: 'command',
    run: deleteSubscriptionAlerts,
  },
  {
    ...ofOne,
    name: 'getSubscriptionAlert',
    method: 'get',
    summary: 'Retrieve an alert of a subscription',
    kind: 'read',
    run: showSubscriptionAlert,
  },
  updateOne,
  { ...updateOne, name: 'patchSubscriptionAlert', method: 'patch', hidden: true },
  {
    ...ofOne,
    name: 'deleteSubscriptionAlert',
    method: 'delete',
    summary: 'Delete an alert of a subscription',
    kind: 'command',
    run: deleteSubscriptionAlert,
  },
];
