/** Time zones as this runtime's calendar knows them. */

/** True for a time zone this runtime knows. */
export function isZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    // Intl throws RangeError for an unknown zone; that is the answer asked for.
    return false;
  }
}

/** The zone's name as the runtime writes it: capitals are no other zone, nor is another name of UTC. */
export function zoneName(zone: string): string {
  const calendar = calendarOf(zone);
  return calendar === 'UTC' || calendar.toLowerCase() === zone.toLowerCase() ? calendar : zone;
}

/** What a zone is the same as. Which of two names of a zone that is, releases of runtimes answer differently, so it is not to be kept. */
export function calendarOf(zone: string): string {
  return formatOf(zone).resolvedOptions().timeZone;
}

/** How far a zone's clocks are ahead of UTC at a time, in ms. */
export function zoneOffsetMs(zone: string, at: number): number {
  if (zone === 'UTC') return 0;
  const parts = formatOf(zone).formatToParts(at);
  const part = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.find((each) => each.type === type)?.value);
  const local = Date.UTC(part('year'), part('month') - 1, part('day'), part('hour'), part('minute'), part('second'));
  return local - (at - (((at % 1000) + 1000) % 1000));
}

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, format);
  }
  return format;
}
