import type { Operation } from '../../../platform/operation.ts';
import { showGrossRevenue, showInvoiceCollection, showInvoicedUsage, showMrr, showOverdueBalance } from './by-month.ts';
import { showMrrMovements, showPrepaidCredits, showRevenueStreams, showUsage } from './by-period.ts';
import {
  CustomerMonthsQuery,
  GrossRevenues,
  InvoiceCollections,
  InvoicedUsages,
  MonthsQuery,
  MrrMovements,
  Mrrs,
  OverdueBalances,
  PeriodsQuery,
  PrepaidCredits,
  RevenueStreams,
  Usages,
} from './schema.ts';

/** A report, and who may read it. */
export const report = (
  operation: Pick<Operation, 'name' | 'path' | 'summary' | 'query' | 'answer' | 'run'>,
): Operation => ({
  ...operation,
  method: 'get',
  permission: 'analytic',
  tag: 'analytics',
  kind: 'read',
});

export const analyticsOperations: Operation[] = [
  report({
    name: 'findAllGrossRevenues',
    path: '/analytics/gross_revenue',
    summary: 'Invoiced revenue by month',
    query: CustomerMonthsQuery,
    answer: GrossRevenues,
    run: showGrossRevenue,
  }),
  report({
    name: 'findAllInvoiceCollections',
    path: '/analytics/invoice_collection',
    summary: 'Invoices by month and payment status',
    query: MonthsQuery,
    answer: InvoiceCollections,
    run: showInvoiceCollection,
  }),
  report({
    name: 'findAllInvoicedUsages',
    path: '/analytics/invoiced_usage',
    summary: 'Invoiced usage by month and metric',
    query: MonthsQuery,
    answer: InvoicedUsages,
    run: showInvoicedUsage,
  }),
  report({
    name: 'findAllMrrs',
    path: '/analytics/mrr',
    summary: 'Monthly recurring revenue',
    query: MonthsQuery,
    answer: Mrrs,
    run: showMrr,
  }),
  report({
    name: 'findAllOverdueBalances',
    path: '/analytics/overdue_balance',
    summary: 'Amounts overdue by the month in which they were due',
    query: CustomerMonthsQuery,
    answer: OverdueBalances,
    run: showOverdueBalance,
  }),
  report({
    name: 'findAllUsages',
    path: '/analytics/usage',
    summary: 'Usage by day, week or month',
    query: PeriodsQuery,
    answer: Usages,
    run: showUsage,
  }),
  report({
    name: 'findAllRevenueStreams',
    path: '/analytics/revenue_streams',
    summary: 'Revenue by where it comes from',
    query: PeriodsQuery,
    answer: RevenueStreams,
    run: showRevenueStreams,
  }),
  report({
    name: 'findAllPrepaidCredits',
    path: '/analytics/prepaid_credits',
    summary: 'Prepaid credits bought, given, consumed and voided',
    query: PeriodsQuery,
    answer: PrepaidCredits,
    run: showPrepaidCredits,
  }),
  report({
    name: 'findAllMrrMovements',
    path: '/analytics/mrr_movements',
    summary: 'What moved monthly recurring revenue',
    query: PeriodsQuery,
    answer: MrrMovements,
    run: showMrrMovements,
  }),
];
