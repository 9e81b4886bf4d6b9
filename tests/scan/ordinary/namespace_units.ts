// Units in a namespace.
namespace Units {
  export const KM_PER_MILE = 1.609344;
  export function toKm(miles: number): number { return miles * KM_PER_MILE; }
}
[1, 26.2].map((m) => Units.toKm(m).toFixed(1));
