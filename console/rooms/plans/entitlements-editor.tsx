import { to } from '../../frame/route.ts';
import { can } from '../../frame/session.ts';
import { useRead } from '../../frame/use-read.ts';
import { FieldInput } from '../../parts/field.tsx';
import { t } from '../../texts/en.ts';
import type { Feature, Privilege } from '../features/features.tsx';
import type { DraftEntitlements } from './draft.ts';

const words = t.plans.editor;

/** Which features the plan grants, and how much of each. */
export function EntitlementsEditor({
  granted,
  onChange,
}: {
  granted: DraftEntitlements;
  onChange: (granted: DraftEntitlements) => void;
}) {
  const { data } = useRead<{ features: Feature[] }>(can('feature') ? '/features?per_page=100' : null);
  if (!data) return null;
  if (data.features.length === 0)
    return (
      <p class="soft">
        {words.noFeatures} <a href={to('features')}>{words.makeFeature}</a>
      </p>
    );
  const grant = (code: string, isGranted: boolean) => {
    const { [code]: _former, ...others } = granted;
    onChange(isGranted ? { ...others, [code]: granted[code] ?? {} } : others);
  };
  return (
    <div class="card padded">
      {data.features.map((feature) => {
        const values = granted[feature.code];
        return (
          <div key={feature.code}>
            <FieldInput
              field={{ name: `feature-${feature.code}`, label: feature.name ?? feature.code, type: 'checkbox' }}
              value={String(values !== undefined)}
              onInput={(text) => grant(feature.code, text === 'true')}
            />
            {values !== undefined && (
              <div class="basics">
                {feature.privileges.map((privilege) => (
                  <FieldInput
                    key={privilege.code}
                    field={{
                      name: `${feature.code}-${privilege.code}`,
                      label: privilege.name ?? privilege.code,
                      ...inputOf(privilege),
                    }}
                    value={values[privilege.code] ?? ''}
                    onInput={(text) => onChange({ ...granted, [feature.code]: { ...values, [privilege.code]: text } })}
                  />
                ))}
              </div>
            )}
          </div>
        );
      })}
    </div>
  );
}

function inputOf({ value_type, config }: Privilege) {
  if (value_type === 'select')
    return {
      type: 'select' as const,
      options: ['', ...(config.select_options ?? [])].map((each) => [each, each || words.notSet] as const),
    };
  if (value_type === 'boolean')
    return {
      type: 'select' as const,
      options: [
        ['', words.notSet],
        ['true', words.yes],
        ['false', words.no],
      ] as const,
    };
  return { type: value_type === 'integer' ? ('number' as const) : ('text' as const) };
}
