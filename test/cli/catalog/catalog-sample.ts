/** A catalog with one of everything, as an export writes it. */
export const catalog = `# yaml-language-server: $schema=./catalog.schema.json
products:
  - name: Inference
    description: Language models
  - name: Seats
meters:
  - code: TOKENS
    displayName: Tokens
    aggregationType: SUM
    aggregationKey: tokens
    groupKeys:
      - model
rateCards:
  - meter: TOKENS
    rates:
      - dimensions:
          model: large
        unitAmount: "0.02"
    fallbackUnitAmount: "0.01"
pricing:
  - product: Inference
    name: Tokens
    model: USAGE
    priceInterval: MONTH
    meter: TOKENS
    unitAmount: "0.01"
  - product: Seats
    name: Seats
    model: TIER
    priceInterval: MONTH
    pricingTiers:
      - maxQty: "10"
        unitAmount: "12"
      - unitAmount: "9.50"
plans:
  - name: Solo
    netTerms: "30"
    items:
      - product: Seats
        price: Seats
  - name: Team
    externalId: team
    netTerms: "14"
    metadata:
      invoiceSendMethod: manual
    items:
      - product: Inference
        price: Tokens
      - product: Seats
        price: Seats
        defaultQuantity: "25"
`;

/** With another price of seats. */
export const dearer = catalog.replace('unitAmount: "9.50"', 'unitAmount: "9.75"');
