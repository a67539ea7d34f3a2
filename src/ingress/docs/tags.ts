/** Groups of the reference in the order of a first integration, each with its tags. */
const GROUPS: readonly (readonly [group: string, tags: readonly string[]])[] = [
  ['Usage', ['events', 'ai_usage', 'access', 'budgets', 'ingestion', 'connectors']],
  [
    'Catalog',
    [
      'billable_metrics',
      'plans',
      'features',
      'entitlements',
      'coupons',
      'add_ons',
      'taxes',
      'pricing_units',
      'price_book',
    ],
  ],
  ['Customers', ['customers', 'subscriptions', 'wallets', 'billing_entities']],
  ['Invoices', ['invoices', 'fees', 'credit_notes', 'invoice_custom_sections', 'e_documents', 'ledger']],
  [
    'Payments',
    [
      'payments',
      'payment_requests',
      'payment_receipts',
      'payment_methods',
      'payment_providers',
      'dunning_campaigns',
      'provider_drifts',
    ],
  ],
  ['Selling', ['quotes', 'order_forms', 'orders']],
  ['Notifying', ['webhook_endpoints', 'webhooks', 'webhook_events', 'mails']],
  ['Reports', ['analytics', 'attention', 'search', 'audits']],
  [
    'Organization',
    [
      'organizations',
      'api_keys',
      'console_sessions',
      'activity_logs',
      'api_logs',
      'security_logs',
      'retention',
      'integrations',
    ],
  ],
  ['Sandbox', ['test_clock', 'sandbox']],
];
const OTHERS = 'More';

/** The tags that a description has, in groups; one that no group names comes last, by itself. */
export function groupedTags(tags: readonly string[]): [group: string, tags: string[]][] {
  const named = new Set(GROUPS.flatMap(([, all]) => all));
  const groups = [...GROUPS, [OTHERS, tags.filter((tag) => !named.has(tag))] as const];
  return groups
    .map(([group, all]): [string, string[]] => [group, all.filter((tag) => tags.includes(tag))])
    .filter(([, all]) => all.length > 0);
}

/** `ai_usage` → `AI usage`. */
export const titleOf = (tag: string): string => {
  const words = tag.replaceAll('_', ' ').replace(/^(ai|api)\b/, (word) => word.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
};
