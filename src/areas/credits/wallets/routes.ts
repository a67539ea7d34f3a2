import { z } from 'zod';
import type { Operation } from '../../../platform/operation.ts';
import { renameErrors } from '../../../platform/schema/flat-errors.ts';
import { Metadata } from '../../catalog/plans/metadata.ts';
import { showWalletBurnDown } from './burn-down.ts';
import { createCustomerWallet, createWallet } from './create-wallet.ts';
import {
  deleteAllWalletMetadata,
  deleteWalletMetadataKey,
  mergeWalletMetadata,
  replaceWalletMetadata,
} from './metadata-commands.ts';
import { listAllWallets, listCustomerWallets, showCustomerWallet, showWallet } from './reads.ts';
import {
  CustomerWalletCreate,
  WalletBurnDown,
  WalletBurnDownQuery,
  WalletCreate,
  WalletEnvelope,
  WalletList,
  WalletListQuery,
  WalletUpdate,
} from './schema.ts';
import { destroyCustomerWallet, destroyWallet } from './terminate-wallet.ts';
import { updateCustomerWallet, updateWallet } from './update-wallet.ts';

const shared = { permission: 'wallet', tag: 'wallets' } as const;
const write = { ...shared, kind: 'command', root: 'wallet', answer: WalletEnvelope } as const;

const update: Operation = {
  ...write,
  name: 'updateWallet',
  method: 'put',
  path: '/wallets/:svc_id',
  summary: 'Update a wallet',
  body: WalletUpdate,
  run: updateWallet,
};
const updateOfCustomer: Operation = {
  ...write,
  name: 'updateCustomerWallet',
  method: 'put',
  path: '/customers/:external_customer_id/wallets/:code',
  summary: 'Update a wallet of a customer',
  body: WalletUpdate,
  run: updateCustomerWallet,
};

/** The same four operations on a wallet by its id, and by its code at a customer. */
function metadataOperations(path: string, whose: string): Operation[] {
  const metadata = {
    ...shared,
    kind: 'command',
    path,
    root: 'metadata',
    body: Metadata.check(renameErrors(() => ['value'])),
    answer: z.object({ metadata: z.record(z.string(), z.string().nullable()).nullable() }),
  } as const;
  const of = whose === 'Customer' ? 'a wallet of a customer' : 'a wallet';
  const merge: Operation = {
    ...metadata,
    name: `merge${whose}WalletMetadata`,
    method: 'patch',
    summary: `Merge metadata of ${of}`,
    run: mergeWalletMetadata,
  };
  return [
    {
      ...metadata,
      name: `replace${whose}WalletMetadata`,
      method: 'post',
      summary: `Replace metadata of ${of}`,
      run: replaceWalletMetadata,
    },
    merge,
    { ...merge, name: `put${whose}WalletMetadata`, method: 'put', hidden: true },
    {
      ...metadata,
      root: undefined,
      body: undefined,
      name: `deleteAll${whose}WalletMetadata`,
      method: 'delete',
      summary: `Delete all metadata of ${of}`,
      run: deleteAllWalletMetadata,
    },
    {
      ...metadata,
      root: undefined,
      body: undefined,
      name: `delete${whose}WalletMetadataKey`,
      method: 'delete',
      path: `${path}/:key`,
      summary: `Delete one metadata key of ${of}`,
      run: deleteWalletMetadataKey,
    },
  ];
}

export const walletOperations: Operation[] = [
  {
    ...write,
    name: 'createWallet',
    method: 'post',
    path: '/wallets',
    summary: 'Create a wallet',
    description:
      'Granted credits can be used at once, paid ones when their invoice is paid. Later invoices are paid from it before anything else is asked for.',
    body: WalletCreate,
    run: createWallet,
  },
  {
    ...shared,
    kind: 'read',
    name: 'findAllWallets',
    method: 'get',
    path: '/wallets',
    summary: 'List wallets',
    query: WalletListQuery,
    answer: WalletList,
    run: listAllWallets,
  },
  {
    ...shared,
    kind: 'read',
    name: 'findWallet',
    method: 'get',
    path: '/wallets/:svc_id',
    summary: 'Retrieve a wallet',
    answer: WalletEnvelope,
    run: showWallet,
  },
  {
    ...shared,
    kind: 'read',
    name: 'findWalletBurnDown',
    method: 'get',
    path: '/wallets/:svc_id/burn_down',
    summary: 'The days of a wallet, and when it is used up',
    query: WalletBurnDownQuery,
    answer: WalletBurnDown,
    run: showWalletBurnDown,
  },
  update,
  { ...update, name: 'patchWallet', method: 'patch', hidden: true },
  {
    ...write,
    root: undefined,
    name: 'destroyWallet',
    method: 'delete',
    path: '/wallets/:svc_id',
    summary: 'Terminate a wallet',
    description: 'What is left in it is lost.',
    run: destroyWallet,
  },
  ...metadataOperations('/wallets/:svc_id/metadata', ''),
  {
    ...write,
    name: 'createCustomerWallet',
    method: 'post',
    path: '/customers/:external_customer_id/wallets',
    summary: 'Create a wallet of a customer',
    description: 'Granted credits can be used at once, paid ones when their invoice is paid.',
    body: CustomerWalletCreate,
    run: createCustomerWallet,
  },
  {
    ...shared,
    kind: 'read',
    name: 'findAllCustomerWallets',
    method: 'get',
    path: '/customers/:external_customer_id/wallets',
    summary: 'List the wallets of a customer',
    query: WalletListQuery,
    answer: WalletList,
    run: listCustomerWallets,
  },
  {
    ...shared,
    kind: 'read',
    name: 'findCustomerWallet',
    method: 'get',
    path: '/customers/:external_customer_id/wallets/:code',
    summary: 'Retrieve a wallet of a customer',
    answer: WalletEnvelope,
    run: showCustomerWallet,
  },
  updateOfCustomer,
  { ...updateOfCustomer, name: 'patchCustomerWallet', method: 'patch', hidden: true },
  {
    ...write,
    root: undefined,
    name: 'destroyCustomerWallet',
    method: 'delete',
    path: '/customers/:external_customer_id/wallets/:code',
    summary: 'Terminate a wallet of a customer',
    run: destroyCustomerWallet,
  },
  ...metadataOperations('/customers/:external_customer_id/wallets/:code/metadata', 'Customer'),
];
