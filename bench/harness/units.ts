export const perSecond = (rate: number): string => `${Math.round(rate).toLocaleString('en')} /s`;

export const milliseconds = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ms`;
