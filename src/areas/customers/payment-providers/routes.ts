import { type Operation, runsAsFlow } from '../../../platform/operation.ts';
import { isOverNetwork } from '../../../platform/payments/providers.ts';
import { checkProvider, createProvider, deleteProvider, hasNetworkSecret, updateProvider } from './commands.ts';
import { cancelMethodsImport, MethodsImportEnvelope, showMethodsImport } from './methods-import.ts';
import { listProvidersPage, listProviderTypes, showProvider } from './reads.ts';
import {
  CreatedProvider,
  ProviderCreate,
  ProviderEnvelope,
  ProviderList,
  ProvidersQuery,
  ProviderTypes,
  ProviderUpdate,
} from './schema.ts';

const common = { permission: 'payment_provider', tag: 'payment_providers', answer: ProviderEnvelope } as const;

const imports = {
  permission: 'payment_method',
  tag: 'payment_providers',
  path: '/payment_providers/:code/import_methods',
  answer: MethodsImportEnvelope,
} as const;

const update: Operation = {
  ...common,
  name: 'updatePaymentProvider',
  method: 'put',
  path: '/payment_providers/:code',
  summary: 'Update a connection to a payment provider',
  root: 'payment_provider',
  body: ProviderUpdate,
  kind: 'command',
  asks: ({ body }) => hasNetworkSecret(body),
  run: updateProvider,
};

export const paymentProviderOperations: Operation[] = [
  {
    ...common,
    name: 'createPaymentProvider',
    method: 'post',
    path: '/payment_providers',
    summary: 'Connect a payment provider',
    description: 'The credentials are tried before they are stored, and are shown nowhere again.',
    root: 'payment_provider',
    body: ProviderCreate,
    answer: CreatedProvider,
    kind: 'command',
    asks: ({ body }) => isOverNetwork(body.type),
    revealsSecret: true,
    run: createProvider,
  },
  {
    ...common,
    name: 'findAllPaymentProviders',
    method: 'get',
    path: '/payment_providers',
    summary: 'List connections to payment providers',
    query: ProvidersQuery,
    answer: ProviderList,
    kind: 'read',
    run: listProvidersPage,
  },
  {
    ...common,
    name: 'findAllPaymentProviderTypes',
    method: 'get',
    path: '/payment_providers/types',
    summary: 'List the types of connection to payment providers',
    answer: ProviderTypes,
    kind: 'read',
    run: listProviderTypes,
  },
  {
    ...common,
    name: 'findPaymentProvider',
    method: 'get',
    path: '/payment_providers/:code',
    summary: 'Retrieve a connection to a payment provider',
    kind: 'read',
    run: showProvider,
  },
  update,
  { ...update, name: 'patchPaymentProvider', method: 'patch', hidden: true },
  {
    ...common,
    name: 'destroyPaymentProvider',
    method: 'delete',
    path: '/payment_providers/:code',
    summary: 'End a connection to a payment provider',
    kind: 'command',
    run: deleteProvider,
  },
  {
    ...common,
    name: 'checkPaymentProvider',
    method: 'post',
    path: '/payment_providers/:code/check',
    summary: 'Try the credentials of a connection',
    kind: 'command',
    asks: () => true,
    run: checkProvider,
  },
  {
    ...imports,
    name: 'importPaymentMethodsOfProvider',
    method: 'post',
    summary: 'Read the payment methods of all customers of a connection',
    kind: 'command',
    run: runsAsFlow,
  },
  {
    ...imports,
    name: 'findImportOfPaymentMethods',
    method: 'get',
    summary: 'Retrieve the newest import of the payment methods of a connection',
    kind: 'read',
    run: showMethodsImport,
  },
  {
    ...imports,
    name: 'cancelImportOfPaymentMethods',
    method: 'post',
    path: '/payment_providers/:code/import_methods/cancel',
    summary: 'End the import of the payment methods of a connection',
    kind: 'command',
    run: cancelMethodsImport,
  },
];
