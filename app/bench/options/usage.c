/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench.h"
#include "options/usage.h"

void
usage_print(FILE *out)
{
	fputs("Usage: " PROGRAM " [EAL options] -- [options]\n"
	      "Sends NetFC requests through a switch, checks every reply, reports rate, loss,\n"
	      "latency and accuracy.\n"
	      "\n"
	      "  --set NAME           table set that the switch has loaded (default fp16_k1024)\n"
	      "  --op OP              add (default), sub, mul, div, or all of these in turn; min, max,\n"
	      "                       compare, or a function that the switch has loaded\n"
	      "  --lanes N            lanes per packet (default 1)\n"
	      "  --operands WHICH     random: any bits (default); values: numbers of all sizes from\n"
	      "                       0.001 to 1000; or a file: x and y in a line, decimal or\n"
	      "                       0x and hex digits; as on the wire if it ends in .bin\n"
	      "  --seed N             for another draw of operands (default 1)\n"
	      "  --packets N          send N packets\n"
	      "  --seconds S          send for S seconds (default 5, unless --packets)\n"
	      "  --window N           keep N packets outstanding (default 512)\n"
	      "  --rate PPS           or send so many packets per second, whatever is answered\n"
	      "  --timeout MS         a reply later than that is lost (default 1000)\n"
	      "  --flows N            spread over N UDP source ports (default 1)\n"
	      "  --src-mac, --dst-mac MAC, --src-ip, --dst-ip IP, --src-udp, --dst-udp PORT\n"
	      "                       addresses of the requests\n"
	      "  --ip6                over IPv6 also where no address is given\n"
	      "  --tx-port, --rx-port N  DPDK ports to send from and receive at (default: the first)\n"
	      "  --mtu N              longest IP packet (default 1500)\n"
	      "  --wait S             seconds for the link to come up (default 10)\n"
	      "  --inline             run the switch in this process, too, on a second lcore\n"
	      "  --match lpm|hash|direct  its match engine (default lpm)\n"
	      "  --progress S         a line every S seconds (default 1; 0: none)\n"
	      "  --json FILE|-        write the report to FILE or standard output as JSON\n"
	      "  --strict             lost, late, duplicate and reordered replies are failures\n",
		out);
	aggregate_options_print_usage(out);
	fputs("  --help, --version\n"
	      "\n"
	      "On any machine, with no NIC, hugepages or root:\n"
	      "  " PROGRAM " --no-huge -m 512 --no-pci --lcores '(0-1)@(0-1)' -- --inline\n"
	      "\n"
	      "Exit status: 0 every reply was right, 1 wrong usage or configuration, 2 a failure\n"
	      "while running, a wrong reply, or none at all.\n",
		out);
}
