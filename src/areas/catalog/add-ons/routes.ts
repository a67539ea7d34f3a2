import type { Operation } from '../../../platform/operation.ts';
import { createAddOn, deleteAddOn, updateAddOn } from './commands.ts';
import { listAddOnsPage, showAddOn } from './reads.ts';
import { AddOnCreate, AddOnEnvelope, AddOnList, AddOnListQuery, AddOnUpdate } from './schema.ts';

const common = { permission: 'add_on', tag: 'add_ons', answer: AddOnEnvelope } as const;

const update: Operation = {
  ...common,
  name: 'updateAddOn',
  method: 'put',
  path: '/add_ons/:code',
  summary: 'Update an add-on',
  root: 'add_on',
  body: AddOnUpdate,
  kind: 'command',
  run: updateAddOn,
};

export const addOnOperations: Operation[] = [
  {
    ...common,
    name: 'createAddOn',
    method: 'post',
    path: '/add_ons',
    summary: 'Create an add-on',
    root: 'add_on',
    body: AddOnCreate,
    kind: 'command',
    run: createAddOn,
  },
  {
    ...common,
    name: 'findAllAddOns',
    method: 'get',
    path: '/add_ons',
    summary: 'List all add-ons',
    query: AddOnListQuery,
    answer: AddOnList,
    kind: 'read',
    run: listAddOnsPage,
  },
  {
    ...common,
    name: 'findAddOn',
    method: 'get',
    path: '/add_ons/:code',
    summary: 'Retrieve an add-on',
    kind: 'read',
    run: showAddOn,
  },
  update,
  { ...update, name: 'patchAddOn', method: 'patch', hidden: true },
  {
    ...common,
    name: 'destroyAddOn',
    method: 'delete',
    path: '/add_ons/:code',
    summary: 'Delete an add-on',
    kind: 'command',
    run: deleteAddOn,
  },
];
