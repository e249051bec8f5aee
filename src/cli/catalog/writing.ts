/** A catalog as the text of a file: sections in the order of creation, defaults left out, decimals in quotes. */

import { vouch } from '../terminal/safe-text.ts';
import type { SafeText } from '../terminal/safe-text.ts';
import { yamlText } from '../wire/yaml-text.ts';
import { usualTiering } from './definitions.ts';
import type { Catalog, MeterDefinition, PlanDefinition, PriceDefinition, RateCardDefinition } from './definitions.ts';

/** Name under which help tells people to save the schema beside the file. */
const schemaFileName = 'catalog.schema.json';

const head = `# yaml-language-server: $schema=./${schemaFileName}\n`;

/** The YAML text, ending in a line end. */
export async function writeCatalog(catalog: Catalog): Promise<SafeText> {
  return vouch(`${head}${await yamlText(fileForm(catalog))}`);
}

/** The contents of the file as data: entries without their defaults. */
export function fileForm(catalog: Catalog) {
  return plain({
    products: catalog.products,
    meters: catalog.meters.map(meterEntry),
    rateCards: catalog.rateCards.map(rateCardEntry),
    pricing: catalog.pricing.map(priceEntry),
    plans: catalog.plans.map(planEntry),
  });
}

/** Leaves out members without a value. */
function plain(value: object): object {
  return JSON.parse(JSON.stringify(value)) as object;
}

const filled = <T>(list: readonly T[] | undefined) => (list === undefined || list.length === 0 ? undefined : list);
const unless = <T>(usual: T, value: T) => (value === usual ? undefined : value);

function meterEntry({ eventTypeFilter, propertyFilters, groupKeys, ...rest }: MeterDefinition) {
  const include = filled(eventTypeFilter?.include);
  const exclude = filled(eventTypeFilter?.exclude);
  return {
    ...rest,
    eventTypeFilter: include === undefined && exclude === undefined ? undefined : { include, exclude },
    propertyFilters: filled(propertyFilters),
    groupKeys: filled(groupKeys),
  };
}

function rateCardEntry({ meter, rates, fallbackUnitAmount }: RateCardDefinition) {
  return { meter, rates: filled(rates), fallbackUnitAmount };
}

function priceEntry(price: PriceDefinition) {
  const { product, name, description, model, billingMode, tiering, pricingTiers } = price;
  const { unitAmount, flatAmount, priceInterval, priceIntervalCount, meter } = price;
  return {
    product,
    name,
    description,
    model,
    billingMode: unless('RECURRING', billingMode),
    priceInterval,
    priceIntervalCount: unless(1, priceIntervalCount),
    meter,
    unitAmount,
    flatAmount,
    tiering: unless(usualTiering(pricingTiers), tiering),
    pricingTiers: pricingTiers?.map(({ maxQty, unitAmount: unit, flatAmount: flat }) => ({
      maxQty,
      unitAmount: unit,
      flatAmount: unless('0', flat),
    })),
  };
}

function planEntry({ name, externalId, description, netTerms, metadata, items }: PlanDefinition) {
  const defaults = {
    defaultAutoPayEnabled: unless(false, metadata.defaultAutoPayEnabled),
    invoiceSendMethod: unless('auto', metadata.invoiceSendMethod),
    defaultCreditSettings: metadata.defaultCreditSettings,
    defaultCreditGrantCents: metadata.defaultCreditGrantCents,
  };
  return {
    name,
    externalId,
    description,
    netTerms,
    metadata: Object.values(defaults).every((value) => value === undefined) ? undefined : defaults,
    items: items.map(({ product, price, defaultQuantity }) => ({
      product,
      price,
      defaultQuantity: unless('1', defaultQuantity),
    })),
  };
}
