import { ID } from './ids.ts';

const metadata = { color: 'blue' };
const receivers = { to: ['ada@example.com'], cc: ['books@example.com'] };
const adjustedFee = { fee_id: ID, units: '12', unit_precise_amount: '0.045' };
const wallet = { name: 'Prepaid', rate_amount: '1', currency: 'USD', paid_credits: '100', granted_credits: '20' };
const changedWallet = {
  name: 'Prepaid',
  recurring_transaction_rules: [{ trigger: 'threshold', threshold_credits: '10', paid_credits: '50' }],
};

/** Bodies of requests about invoices, credits and payments. */
export const MONEY_EXAMPLES: Readonly<Record<string, object>> = {
  createInvoice: {
    invoice: {
      external_customer_id: 'ada',
      currency: 'USD',
      fees: [{ add_on_code: 'setup', units: '2', unit_amount_cents: 9900, description: 'Two sites' }],
    },
  },
  updateInvoice: { invoice: { payment_status: 'succeeded', metadata: [{ key: 'ledger', value: '4711' }] } },
  invoicePreview: { customer: { external_id: 'ada' }, plan_code: 'starter', billing_time: 'calendar' },
  syncInvoiceCrmId: { external_id: '0061', integration_code: 'crm' },
  voidInvoice: { generate_credit_note: true, credit_amount: 500, refund_amount: 0 },
  regenerateInvoice: { invoice: { fees: [{ id: ID, units: '1', unit_amount_cents: 900 }] } },
  writeOffInvoice: { write_off: { amount_cents: 900, reason: 'bankrupt' } },
  createProviderReconciliation: { provider_reconciliation: { payment_provider_code: 'stripe' } },
  repairProviderDrift: { drift: { action: 'resolve', note: 'The bank kept its fee' } },
  createInvoiceEDocument: { e_document: { profile: 'peppol_bis3' } },
  createCreditNoteEDocument: { e_document: { profile: 'peppol_bis3' } },
  verifyInvoice: { verification: { level: 'events' } },
  createAdjustedFee: { adjusted_fee: adjustedFee },
  previewAdjustedFee: { adjusted_fee: adjustedFee },
  updateFee: { fee: { payment_status: 'succeeded' } },
  createCreditNote: {
    credit_note: {
      invoice_id: ID,
      reason: 'product_unsatisfactory',
      credit_amount_cents: 1200,
      items: [{ fee_id: ID, amount_cents: 1000 }],
    },
  },
  estimateCreditNote: { credit_note: { invoice_id: ID, items: [{ fee_id: ID, amount_cents: 1000 }] } },
  updateCreditNote: { credit_note: { refund_status: 'succeeded' } },
  replaceCreditNoteMetadata: { metadata },
  mergeCreditNoteMetadata: { metadata },
  createPayment: {
    payment: { invoice_id: ID, amount_cents: 9000, reference: 'bank transfer 17', paid_at: '2030-02-01' },
  },
  retryPayment: { payment_method: { payment_method_type: 'provider', payment_method_id: ID } },
  resendInvoiceEmail: receivers,
  resendCreditNoteEmail: receivers,
  resendPaymentReceiptEmail: receivers,
  createPaymentRequest: { payment_request: { external_customer_id: 'ada', svc_invoice_ids: [ID] } },
  createDunningCampaign: {
    dunning_campaign: {
      code: 'standard',
      name: 'Standard',
      days_between_attempts: 7,
      max_attempts: 3,
      thresholds: [{ amount_cents: 5000, currency: 'USD' }],
      applied_to_organization: true,
    },
  },
  updateDunningCampaign: { dunning_campaign: { max_attempts: 4 } },
  confirmSandboxPayment: { outcome: 'succeeded' },
  finishSandboxCheckout: { checkout: { card_number: '4242424242424242' } },
  createWallet: { wallet: { external_customer_id: 'ada', ...wallet } },
  updateWallet: { wallet: changedWallet },
  createCustomerWallet: { wallet },
  updateCustomerWallet: { wallet: changedWallet },
  replaceWalletMetadata: { metadata },
  mergeWalletMetadata: { metadata },
  replaceCustomerWalletMetadata: { metadata },
  mergeCustomerWalletMetadata: { metadata },
  createWalletHold: { hold: { amount_cents: 50, expires_in_seconds: 600, reference: 'job 17' } },
  updateWalletHold: { hold: { amount_cents: 80 } },
  settleWalletHold: { hold: { amount_cents: 42 } },
  createWalletTransaction: { wallet_transaction: { wallet_id: ID, paid_credits: '50', granted_credits: '5' } },
};
