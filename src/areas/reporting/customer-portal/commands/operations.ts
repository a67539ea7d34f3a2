import { z } from 'zod';
import type { Operation } from '../../../../platform/operation.ts';
import { addOwnAlert, removeOwnAlert } from './alerts.ts';
import { changeDetails, chooseLanguage } from './details.ts';
import { sendLink } from './mails.ts';
import { chooseDefaultMethod, removeMethod } from './methods.ts';
import { payOverdue } from './pay-overdue.ts';
import { topUpWallet } from './top-up.ts';

const common = {
  method: 'post',
  path: '/',
  permission: null,
  tag: 'portal',
  answer: z.looseObject({}),
  kind: 'command',
} as const;

/**
 * What customers do on their pages: commands of the writes pool that no route of the API has. They find out by
 * themselves whether the seller allows them and whose record is named.
 */
export const portalCommands: Operation[] = [
  { ...common, name: 'portalPayOverdue', summary: 'Ask for what is overdue', run: payOverdue },
  { ...common, name: 'portalTopUp', summary: 'Buy credits', run: topUpWallet },
  { ...common, name: 'portalDefaultMethod', summary: 'Choose the default payment method', run: chooseDefaultMethod },
  { ...common, name: 'portalRemoveMethod', summary: 'Remove a payment method', run: removeMethod },
  { ...common, name: 'portalDetails', summary: 'Change billing data', run: changeDetails },
  { ...common, name: 'portalAddAlert', summary: 'Add an alert of usage', run: addOwnAlert },
  { ...common, name: 'portalRemoveAlert', summary: 'Remove an alert of usage', run: removeOwnAlert },
  { ...common, name: 'portalLanguage', summary: 'Choose the language', run: chooseLanguage },
  { ...common, name: 'portalLink', summary: 'Send a new link', run: sendLink },
];
