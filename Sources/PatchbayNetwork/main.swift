import Foundation
import PatchbayCommand

let status = await Command.run(Array(CommandLine.arguments.dropFirst()), network: HTTPNetwork())
exit(status)
