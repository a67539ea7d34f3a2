import type { Operation } from '../../../platform/operation.ts';
import { CustomerBalanceEnvelope, showCustomerBalance } from './customer-balance.ts';
import { showAccounts, showEntries, showTransaction, showTrialBalance } from './reads.ts';
import {
  AccountList,
  BalancesQuery,
  EntriesQuery,
  EntryList,
  TransactionEnvelope,
  TrialBalanceEnvelope,
} from './schema.ts';

const shared = { method: 'get', permission: 'ledger', tag: 'ledger', kind: 'read' } as const;

export const ledgerOperations: Operation[] = [
  {
    ...shared,
    name: 'findAllLedgerEntries',
    path: '/ledger/entries',
    summary: 'List entries of the journal; with Accept: text/csv all of them as a file',
    query: EntriesQuery,
    answer: EntryList,
    alsoCsv: true,
    run: showEntries,
  },
  {
    ...shared,
    name: 'findLedgerTransaction',
    path: '/ledger/transactions/:svc_id',
    summary: 'Retrieve a transaction of the journal with its lines',
    answer: TransactionEnvelope,
    run: showTransaction,
  },
  {
    ...shared,
    name: 'findAllLedgerAccounts',
    path: '/ledger/accounts',
    summary: 'List accounts with their balances',
    query: BalancesQuery,
    answer: AccountList,
    run: showAccounts,
  },
  {
    ...shared,
    name: 'findTrialBalance',
    path: '/ledger/trial_balance',
    summary: 'Retrieve the trial balance at the end of a day or at an instant',
    description: 'Debit and credit are equal, or the auditor reports it.',
    query: BalancesQuery,
    answer: TrialBalanceEnvelope,
    run: showTrialBalance,
  },
  {
    ...shared,
    name: 'findCustomerBalance',
    path: '/customers/:external_id/balance',
    permission: 'customer',
    tag: 'customers',
    summary: 'What a customer and the organization owe each other, by currency',
    answer: CustomerBalanceEnvelope,
    run: showCustomerBalance,
  },
];
