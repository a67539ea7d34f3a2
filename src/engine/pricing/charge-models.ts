export const CHARGE_MODELS = [
  'standard',
  'graduated',
  'graduated_percentage',
  'package',
  'percentage',
  'volume',
  'dynamic',
  'custom',
] as const;
export type ChargeModelName = (typeof CHARGE_MODELS)[number];

export const isChargeModel = (value: unknown): value is ChargeModelName =>
  CHARGE_MODELS.includes(value as ChargeModelName);
