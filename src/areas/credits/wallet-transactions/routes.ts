import { type Operation, runsAsFlow } from '../../../platform/operation.ts';
import { listWalletTransactions, showConsumptions, showFundings, showTransaction } from './reads.ts';
import {
  ConsumptionList,
  ConsumptionListQuery,
  FundingList,
  TransactionCreate,
  TransactionEnvelope,
  TransactionList,
  TransactionListQuery,
  Transactions,
} from './schema.ts';

const shared = { permission: 'wallet_transaction', tag: 'wallets' } as const;

export const walletTransactionOperations: Operation[] = [
  {
    ...shared,
    kind: 'command',
    name: 'createWalletTransaction',
    method: 'post',
    path: '/wallet_transactions',
    summary: 'Top up a wallet, or void credits of it',
    description: 'Paid credits make an invoice and can be used when it is paid; granted ones at once.',
    root: 'wallet_transaction',
    body: TransactionCreate,
    answer: Transactions,
    run: runsAsFlow,
  },
  {
    ...shared,
    kind: 'read',
    name: 'findWalletTransaction',
    method: 'get',
    path: '/wallet_transactions/:svc_id',
    summary: 'Retrieve a wallet transaction',
    answer: TransactionEnvelope,
    run: showTransaction,
  },
  {
    ...shared,
    kind: 'read',
    name: 'findAllWalletTransactions',
    method: 'get',
    path: '/wallets/:svc_id/wallet_transactions',
    summary: 'List the transactions of a wallet',
    query: TransactionListQuery,
    answer: TransactionList,
    run: listWalletTransactions,
  },
  {
    ...shared,
    kind: 'read',
    name: 'findAllWalletTransactionConsumptions',
    method: 'get',
    path: '/wallet_transactions/:svc_id/consumptions',
    summary: 'List what consumed the credits of a transaction',
    query: ConsumptionListQuery,
    answer: ConsumptionList,
    run: showConsumptions,
  },
  {
    ...shared,
    kind: 'read',
    name: 'findAllWalletTransactionFundings',
    method: 'get',
    path: '/wallet_transactions/:svc_id/fundings',
    summary: 'List the credits that funded a transaction',
    query: ConsumptionListQuery,
    answer: FundingList,
    run: showFundings,
  },
];
