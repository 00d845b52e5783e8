import Foundation
import PatchbayCommand

StandardFiles.fillIn()
// Linked without a network: `patchbay-network`, which lies beside this program, does what needs one.
let status = await Command.run(Array(CommandLine.arguments.dropFirst()), network: nil)
exit(status)
