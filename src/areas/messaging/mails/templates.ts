import { own } from '../../../engine/own.ts';
import type { MailSetting } from './owe-mail.ts';

/** What a text of a mail may name in braces. Rule: mails.md#texts-of-a-seller. */
export type Placeholder =
  | 'customer_name'
  | 'seller'
  | 'support_email'
  | 'number'
  | 'amount'
  | 'due_date'
  | 'days_overdue'
  | 'attempt'
  | 'attempts'
  | 'wallet'
  | 'credits'
  | 'subscription'
  | 'limit'
  | 'link';

interface Template {
  /** Which of the contract's settings says whether it is sent; `always`: no setting; null: `mail_settings` does. */
  setting: MailSetting | 'always' | null;
  /** Whether it is sent until `mail_settings` says otherwise. */
  isOn: boolean;
  placeholders: readonly Placeholder[];
}

const OF_ALL = ['customer_name', 'seller', 'support_email'] as const;

/** Mails. New ones to customers are off, so that an upgrade mails nobody. Rule: mails.md#templates. */
export const MAIL_TEMPLATES = {
  invoice: {
    setting: 'invoice.finalized',
    isOn: false,
    placeholders: [...OF_ALL, 'number', 'amount', 'due_date', 'link'],
  },
  credit_note: { setting: 'credit_note.created', isOn: false, placeholders: [...OF_ALL, 'number', 'amount'] },
  payment_receipt: { setting: 'payment_receipt.created', isOn: false, placeholders: [...OF_ALL, 'number', 'amount'] },
  invoice_overdue: {
    setting: null,
    isOn: true,
    placeholders: [...OF_ALL, 'number', 'amount', 'due_date', 'days_overdue', 'attempt', 'attempts', 'link'],
  },
  payment_request: { setting: null, isOn: true, placeholders: [...OF_ALL, 'number', 'amount', 'due_date', 'link'] },
  payment_action: { setting: null, isOn: true, placeholders: [...OF_ALL, 'number', 'amount', 'due_date', 'link'] },
  payment_failed: { setting: null, isOn: false, placeholders: [...OF_ALL, 'number', 'amount', 'due_date', 'link'] },
  portal_link: { setting: null, isOn: true, placeholders: [...OF_ALL, 'link'] },
  details_changed: { setting: null, isOn: true, placeholders: OF_ALL },
  wallet_low: { setting: null, isOn: false, placeholders: [...OF_ALL, 'wallet', 'credits', 'amount', 'link'] },
  top_up_failed: { setting: null, isOn: false, placeholders: [...OF_ALL, 'wallet', 'credits', 'amount', 'link'] },
  trial_ending: {
    setting: null,
    isOn: false,
    placeholders: [...OF_ALL, 'subscription', 'due_date', 'amount', 'link'],
  },
  subscription_ending: {
    setting: null,
    isOn: false,
    placeholders: [...OF_ALL, 'subscription', 'due_date', 'amount', 'link'],
  },
  usage_alert: { setting: null, isOn: true, placeholders: [...OF_ALL, 'subscription', 'amount', 'limit', 'link'] },
  // To people of the organization: what concerns its safety cannot be switched off.
  endpoint_disabled: { setting: 'always', isOn: true, placeholders: ['seller', 'link'] },
  key_created: { setting: 'always', isOn: true, placeholders: ['seller', 'link'] },
} as const satisfies Record<string, Template>;

export type TemplateName = keyof typeof MAIL_TEMPLATES;
export const TEMPLATE_NAMES = Object.keys(MAIL_TEMPLATES) as TemplateName[];

export const templateOf = (name: TemplateName): Template => MAIL_TEMPLATES[name];

/** The template of this name, if there is one. */
export const findTemplate = (name: string): Template | undefined => own(MAIL_TEMPLATES, name);

/** Texts that stand in place of placeholders; of one without a text nothing is printed. */
export type MailValues = Partial<Record<Exclude<Placeholder, 'link'>, string>>;
