import { t } from '../texts/en.ts';

/** What a code of the API says about a value. */
export function faultWords(code: unknown): string {
  const text = typeof code === 'string' ? code : JSON.stringify(code);
  return t.faults[text] ?? text.replaceAll('_', ' ');
}
