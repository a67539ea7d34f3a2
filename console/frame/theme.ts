import { effect, signal } from '@preact/signals';
import { t } from '../texts/en.ts';

const STORED = 'meterstone-colours';

export const themes = [
  ['system', t.frame.themeSystem],
  ['light', t.frame.themeLight],
  ['dark', t.frame.themeDark],
] as const;
type Theme = (typeof themes)[number][0];

/** Light or dark, as the system has it or as it was chosen in this browser. */
export const themeChoice = signal<Theme>('system');

export function applyTheme(): void {
  const stored = localStorage.getItem(STORED);
  if (themes.some(([name]) => name === stored)) themeChoice.value = stored as Theme;
  effect(() => {
    const choice = themeChoice.value;
    localStorage.setItem(STORED, choice);
    if (choice === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
  });
}
