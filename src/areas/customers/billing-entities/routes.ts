import type { Operation } from '../../../platform/operation.ts';
import { archiveBillingEntity, restoreBillingEntity } from './archive-billing-entity.ts';
import { createBillingEntity, updateBillingEntity } from './commands.ts';
import { listAllBillingEntities, showBillingEntity } from './reads.ts';
import {
  BillingEntityCreate,
  BillingEntityDetailsEnvelope,
  BillingEntityEnvelope,
  BillingEntityList,
  BillingEntityUpdate,
} from './schema.ts';

const common = { permission: 'billing_entity', tag: 'billing_entities' } as const;

/** The largest logo, 800 KiB in base64, with room for the rest. */
const BODY_LIMIT_BYTES = 2 * 1024 * 1024;

const update: Operation = {
  ...common,
  name: 'updateBillingEntity',
  method: 'put',
  path: '/billing_entities/:code',
  summary: 'Update a billing entity',
  root: 'billing_entity',
  body: BillingEntityUpdate,
  bodyLimitBytes: BODY_LIMIT_BYTES,
  answer: BillingEntityDetailsEnvelope,
  kind: 'command',
  run: updateBillingEntity,
};

export const billingEntityOperations: Operation[] = [
  {
    ...common,
    name: 'listBillingEntities',
    method: 'get',
    path: '/billing_entities',
    summary: 'List all billing entities',
    answer: BillingEntityList,
    kind: 'read',
    run: listAllBillingEntities,
  },
  {
    ...common,
    name: 'createBillingEntity',
    method: 'post',
    path: '/billing_entities',
    summary: 'Create a billing entity',
    root: 'billing_entity',
    body: BillingEntityCreate,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    answer: BillingEntityEnvelope,
    kind: 'command',
    run: createBillingEntity,
  },
  {
    ...common,
    name: 'getBillingEntity',
    method: 'get',
    path: '/billing_entities/:code',
    summary: 'Retrieve a billing entity',
    answer: BillingEntityDetailsEnvelope,
    kind: 'read',
    run: showBillingEntity,
  },
  update,
  { ...update, name: 'patchBillingEntity', method: 'patch', hidden: true },
  {
    ...common,
    name: 'archiveBillingEntity',
    method: 'post',
    path: '/billing_entities/:code/archive',
    summary: 'Archive a billing entity',
    answer: BillingEntityEnvelope,
    kind: 'command',
    run: archiveBillingEntity,
  },
  {
    ...common,
    name: 'restoreBillingEntity',
    method: 'post',
    path: '/billing_entities/:code/restore',
    summary: 'Restore an archived billing entity',
    answer: BillingEntityEnvelope,
    kind: 'command',
    run: restoreBillingEntity,
  },
];
