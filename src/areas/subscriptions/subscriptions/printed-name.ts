/**
 * Name that an invoice prints for a subscription: its own, else the plan's display name or name.
 * Rule: subscriptions.md#fields.
 */
export const subscriptionName = (row: {
  name: string | null;
  plan_invoice_display_name: string | null;
  plan_name: string;
}): string => row.name ?? row.plan_invoice_display_name ?? row.plan_name;
