/** Resources a key may be permitted to read or write (api-keys.md#record, other-routes.md#common-ground). */
export const PERMISSION_RESOURCES = [
  'activity_log',
  'add_on',
  'analytic',
  'api_log',
  'billable_metric',
  'coupon',
  'applied_coupon',
  'credit_note',
  'customer_usage',
  'customer',
  'event',
  'fee',
  'invoice',
  'organization',
  'order',
  'order_form',
  'payment',
  'payment_receipt',
  'payment_request',
  'payment_method',
  'plan',
  'subscription',
  'lifetime_usage',
  'tax',
  'wallet',
  'wallet_transaction',
  'webhook_endpoint',
  'webhook_jwt_public_key',
  'invoice_custom_section',
  'billing_entity',
  'alert',
  'feature',
  'security_log',
  'quote',
  'product_category',
  'product',
  'rate_card',
  'plan_rate_card',
  'event_correction',
  'simulation',
  'ledger',
  'audit',
  'webhook_event',
  'access',
  'wallet_hold',
  'budget',
  'dunning_campaign',
  'payment_provider',
  'pricing_unit',
  'price_book',
  'catalog',
  'erasure',
  'retention',
  'integration',
  'member',
  'e_document',
  'mail',
  'reconciliation',
  'test_clock',
  'api_key',
] as const;

export type PermissionResource = (typeof PERMISSION_RESOURCES)[number];
export type Permissions = Partial<Record<PermissionResource, ('read' | 'write')[]>>;

// Resources that must be named explicitly (other-routes.md#common-ground): for both modes, or only for writing.
const NAMED_ONLY = new Set<PermissionResource>(['api_key', 'payment_provider', 'erasure', 'retention']);
const NAMED_ONLY_WRITE = new Set<PermissionResource>(['member']);

/** Permissions of a key created without any: everything except what must be named. */
export function defaultPermissions(): Permissions {
  return Object.fromEntries(
    PERMISSION_RESOURCES.filter((resource) => !NAMED_ONLY.has(resource)).map((resource) => [
      resource,
      NAMED_ONLY_WRITE.has(resource) ? ['read'] : ['read', 'write'],
    ]),
  );
}

/** Permissions of the operator's own key: every resource, both modes. */
export function allPermissions(): Permissions {
  return Object.fromEntries(PERMISSION_RESOURCES.map((resource) => [resource, ['read', 'write']]));
}
