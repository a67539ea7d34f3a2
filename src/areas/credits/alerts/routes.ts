import { z } from 'zod';
import type { Operation } from '../../../platform/operation.ts';
import { createAlerts, deleteAlert, deleteAlerts, updateAlert } from './commands.ts';
import { listAllAlerts, showOneAlert } from './reads.ts';
import {
  AlertCreateBody,
  AlertEnvelope,
  AlertList,
  AlertListQuery,
  AlertOrAlerts,
  AlertUpdate,
  AlertUpdateDocumented,
  SubscriptionAlertCreateDocumented,
  SubscriptionAlertListQuery,
  SubscriptionAlertQuery,
  WalletAlertCreateDocumented,
} from './schema.ts';

interface Place {
  path: string;
  tag: string;
  /** As it stands in the operations' names. */
  noun: string;
  summary: string;
  documentedBody: z.ZodType;
  listQuery: z.ZodType;
  query?: z.ZodType;
}

/** The same six operations on the alerts of a subscription and on those of a wallet. */
function operationsOf({ path, tag, noun, summary, documentedBody, listQuery, query }: Place): Operation[] {
  const common = { permission: 'alert', tag, ...(query ? { query } : {}) } as const;
  const ofAll = { ...common, path };
  const ofOne = { ...common, path: `${path}/:code`, answer: AlertEnvelope };
  const updateOne: Operation = {
    ...ofOne,
    name: `update${noun}Alert`,
    method: 'put',
    summary: `Update an alert of ${summary}`,
    root: 'alert',
    body: AlertUpdate,
    documentedBody: AlertUpdateDocumented,
    kind: 'command',
    run: updateAlert,
  };
  return [
    {
      ...ofAll,
      name: `get${noun}Alerts`,
      method: 'get',
      summary: `List the alerts of ${summary}`,
      query: listQuery,
      answer: AlertList,
      kind: 'read',
      run: listAllAlerts,
    },
    {
      ...ofAll,
      name: `create${noun}Alert`,
      method: 'post',
      summary: `Create one or several alerts of ${summary}`,
      body: AlertCreateBody,
      documentedBody,
      answer: AlertOrAlerts,
      kind: 'command',
      run: createAlerts,
    },
    {
      ...ofAll,
      name: `deleteAll${noun}Alerts`,
      method: 'delete',
      summary: `Delete all alerts of ${summary}`,
      answer: z.null(),
      kind: 'command',
      run: deleteAlerts,
    },
    {
      ...ofOne,
      name: `get${noun}Alert`,
      method: 'get',
      summary: `Retrieve an alert of ${summary}`,
      kind: 'read',
      run: showOneAlert,
    },
    updateOne,
    { ...updateOne, name: `patch${noun}Alert`, method: 'patch', hidden: true },
    {
      ...ofOne,
      name: `delete${noun}Alert`,
      method: 'delete',
      summary: `Delete an alert of ${summary}`,
      kind: 'command',
      run: deleteAlert,
    },
  ];
}

export const alertOperations: Operation[] = [
  ...operationsOf({
    path: '/subscriptions/:external_id/alerts',
    tag: 'subscriptions',
    noun: 'Subscription',
    summary: 'a subscription',
    documentedBody: SubscriptionAlertCreateDocumented,
    listQuery: SubscriptionAlertListQuery,
    query: SubscriptionAlertQuery,
  }),
  ...operationsOf({
    path: '/customers/:external_customer_id/wallets/:wallet_code/alerts',
    tag: 'wallets',
    noun: 'CustomerWallet',
    summary: 'a wallet',
    documentedBody: WalletAlertCreateDocumented,
    listQuery: AlertListQuery,
  }),
];
