import type { Operation } from '../../../platform/operation.ts';
import { createTax, deleteTax, updateTax } from './commands.ts';
import { listTaxesPage, showTax } from './reads.ts';
import { TaxCreate, TaxEnvelope, TaxList, TaxListQuery, TaxUpdate } from './schema.ts';

const common = { permission: 'tax', tag: 'taxes', answer: TaxEnvelope } as const;

const update: Operation = {
  ...common,
  name: 'updateTax',
  method: 'put',
  path: '/taxes/:code',
  summary: 'Update a tax',
  root: 'tax',
  body: TaxUpdate,
  kind: 'command',
  run: updateTax,
};

export const taxOperations: Operation[] = [
  {
    ...common,
    name: 'createTax',
    method: 'post',
    path: '/taxes',
    summary: 'Create a tax',
    root: 'tax',
    body: TaxCreate,
    kind: 'command',
    run: createTax,
  },
  {
    ...common,
    name: 'findAllTaxes',
    method: 'get',
    path: '/taxes',
    summary: 'List all taxes',
    query: TaxListQuery,
    answer: TaxList,
    kind: 'read',
    run: listTaxesPage,
  },
  {
    ...common,
    name: 'findTax',
    method: 'get',
    path: '/taxes/:code',
    summary: 'Retrieve a tax',
    kind: 'read',
    run: showTax,
  },
  update,
  { ...update, name: 'patchTax', method: 'patch', hidden: true },
  {
    ...common,
    name: 'destroyTax',
    method: 'delete',
    path: '/taxes/:code',
    summary: 'Delete a tax',
    kind: 'command',
    run: deleteTax,
  },
];
