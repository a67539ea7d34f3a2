export { type CallContext, withMeter } from './context.ts';
export { BudgetRefused, BudgetUnavailable, type GuardOptions, guard } from './guard.ts';
export { type MeterOptions, meter } from './meter.ts';
export { meterModel } from './meter-model.ts';
export { type Meterstone, type MeterstoneOptions, openMeterstone, type Stats } from './meterstone.ts';
